"""The figures of herding: a weight, a circle, a torus, a herd's visit, distributions over time."""

from typing import Any

import numpy as np

from herded.system.figures import (
    GIBBS_COLOUR,
    GREY,
    HERDED_COLOUR,
    OTHER_COLOURS,
    SHARED_COLOUR,
    subplots,
    svg,
    with_plot_style,
)

STATES = ("#cbd5e1", GIBBS_COLOUR, SHARED_COLOUR, HERDED_COLOUR)  # of the states 00, 01, 10, 11


def weights(chance: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the weight before each step, and whether the variable became 1 (equation 5)."""
    w, found = chance - 0.4, []  # anywhere in (pi - 1, pi]
    for _ in range(steps):
        one = w > 0
        found.append((w, one))
        w += chance - one
    values, ones = zip(*found, strict=True)
    return np.array(values), np.array(ones)


@with_plot_style
def draw_weight(chance: float, steps: int = 24) -> str:
    """Draw figure 1: the weight over time, within its interval."""
    figure, axis = subplots(1, 1, width=3.4, height=2.8)
    values, ones = weights(chance, steps)
    axis.axhspan(chance - 1, chance, color="#f3f4f6")
    axis.axhline(0, color=GREY, lw=0.8)
    axis.plot(values, color=GREY, lw=0.8)
    for one, colour in ((True, HERDED_COLOUR), (False, GIBBS_COLOUR)):
        at = np.flatnonzero(ones == one)
        axis.plot(at, values[at], "o", ms=4, color=colour, label=f"x = {int(one)}")
    axis.set(xlabel="step", ylabel="weight w", yticks=[chance - 1, 0, chance])
    axis.set_yticklabels(["π - 1", "0", "π"])
    figure.legend(loc="outside lower center", ncols=2)
    return svg(figure)


@with_plot_style
def draw_counts(chance: float, steps: int = 200) -> str:
    """Draw the ones so far minus those expected, by herding and by fair draws."""
    figure, axis = subplots(1, 1, width=3.4, height=2.8)
    due = chance * np.arange(1, steps + 1)
    fair = np.random.default_rng(0).random(steps) < chance
    axis.axhspan(-1, 1, color="#f3f4f6")
    axis.plot(np.cumsum(fair) - due, color=GIBBS_COLOUR, label="fair draws")
    axis.plot(np.cumsum(weights(chance, steps)[1]) - due, color=HERDED_COLOUR, label="herding")
    axis.set(xlabel="step T", ylabel="ones - Tπ")
    figure.legend(loc="outside lower center", ncols=2)
    return svg(figure)


@with_plot_style
def draw_circle(chance: float, steps: int = 10) -> str:
    """Draw figure 8: the weight modulo 1, which turns by the same angle at every step."""
    figure, axis = subplots(1, 1, width=3.4, height=2.8)
    for first, last, colour in ((0, chance, HERDED_COLOUR), (chance, 1, GIBBS_COLOUR)):
        arc = 2 * np.pi * np.linspace(first, last, 100)
        axis.plot(np.sin(arc), np.cos(arc), color=colour, lw=4, solid_capstyle="butt")
    turn = 2 * np.pi * ((0.5 * chance + chance * np.arange(steps)) % 1)
    axis.plot(np.sin(turn), np.cos(turn), "o", ms=11, mfc="white", mec=GREY)
    for step, angle in enumerate(turn):
        axis.annotate(str(step), (np.sin(angle), np.cos(angle)), ha="center", va="center")
    axis.annotate("0", (0, 1.25), ha="center", va="center")
    middle = 2 * np.pi * chance
    axis.annotate("π", 1.25 * np.array([np.sin(middle), np.cos(middle)]), ha="center", va="center")
    axis.annotate(
        "x = 1 on the red arc", (0, 0), ha="center", va="center", color=HERDED_COLOUR, fontsize=8
    )
    axis.set(aspect="equal", xlim=(-1.45, 1.45), ylim=(-1.3, 1.4))
    axis.set_axis_off()
    return svg(figure)


@with_plot_style
def draw_torus(chances: tuple[float, ...], title: str, steps: int = 600) -> str:
    """Draw figure 9: two weights modulo 1, coloured by the state of their variables."""
    figure, axis = subplots(1, 1, width=3.6, height=3.6)
    first, second = chances
    path = (0.5 * np.array(chances) + np.arange(steps)[:, None] * np.array(chances)) % 1
    state = 2 * (path[:, 0] < first) + (path[:, 1] < second)
    for number, colour in enumerate(STATES):
        mine = path[state == number]
        name = f"{number >> 1}{number & 1}"
        axis.plot(mine[:, 0], mine[:, 1], "o", ms=3, color=colour, label=f"state {name}")
    axis.axvline(first, color=GREY, lw=0.8)
    axis.axhline(second, color=GREY, lw=0.8)
    axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", title=title)
    axis.set(xlabel="w₁ mod 1", ylabel="w₂ mod 1")
    axis.grid(visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return svg(figure)


@with_plot_style
def draw_visit(members: int = 12, phase: float = 0.35) -> str:
    """Draw how a herd draws: conditionals end to end, and teeth a whole number apart."""
    figure, axis = subplots(1, 1, width=4.4, height=1.9)
    chances = np.random.default_rng(4).uniform(0.1, 0.75, members)
    ends = np.cumsum(chances)
    for number, (end, chance) in enumerate(zip(ends, chances, strict=True)):
        one = np.floor(end + phase) > np.floor(end - chance + phase)
        colour = HERDED_COLOUR if one else "#dbe4f0"
        axis.barh(0, chance, left=end - chance, height=0.6, color=colour, edgecolor="white")
        place = (end - chance / 2, 0)
        ink = "white" if one else "#1f2937"
        axis.annotate(str(number + 1), place, ha="center", va="center", fontsize=8, color=ink)
    for tooth in np.arange(1, np.floor(ends[-1] + phase) + 1) - phase:
        axis.plot([tooth, tooth], [-0.55, 0.75], color="#1f2937", lw=1.2)
    axis.annotate("1 - φ", (1 - phase, 0.8), ha="center", va="bottom")
    axis.set(ylim=(-0.7, 1.15), yticks=[], xlabel="sum of the conditionals p of members 1 to 12")
    axis.spines["left"].set_visible(False)
    axis.grid(visible=False)
    return svg(figure)


@with_plot_style
def draw_times(sweeps: int = 7, window: int = 5) -> str:
    """Draw figures 11 and 12: states at the ends of sweeps and within them, with windows."""
    figure, axis = subplots(1, 1, width=4.4, height=2.3)
    names = 3
    for step in range(names * sweeps + 1):
        end = step % names == 0
        axis.plot(step, 0, "o", ms=11 if end else 5, color=HERDED_COLOUR if end else "#cbd5e1")
        if end:
            axis.annotate(f"{step // names}", (step, 0), ha="center", va="center", color="white")
    _bracket(axis, 0, names * (window - 1), 0.35, "P₅ from sweep 0", HERDED_COLOUR)
    _bracket(axis, names, names * window, 0.8, "P₅ from sweep 1", HERDED_COLOUR)
    _bracket(
        axis, 1, 1 + names * (window - 1), -0.4, "within sweeps, after step 1", OTHER_COLOURS[1]
    )
    axis.annotate(
        "large: ends of sweeps, small: steps within", (0, -1.05), fontsize=8, color="#4b5563"
    )
    axis.set(ylim=(-1.2, 1.25), xlim=(-0.8, names * sweeps + 0.8))
    axis.set_axis_off()
    return svg(figure)


def _bracket(axis: Any, first: float, last: float, height: float, text: str, colour: str) -> None:
    tip = -0.1 if height > 0 else 0.1
    axis.plot(
        [first, first, last, last], [height + tip, height, height, height + tip], color=colour
    )
    side = "bottom" if height > 0 else "top"
    gap = 0.04 if height > 0 else -0.04
    axis.annotate(text, ((first + last) / 2, height + gap), ha="center", va=side, color=colour)
