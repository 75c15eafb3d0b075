"""The figure of `herded compare`: errors over time, both on logarithmic axes."""

from collections.abc import Sequence

from herded.system.plot import GIBBS, HERDED, OTHERS, SHARED, in_style, png, subplots, svg

COLOURS = {"gibbs": GIBBS, "herded": HERDED, "shared": SHARED}
SPARE = (*OTHERS, "#0f766e", "#92400e", "#6b7280", "#be185d", "#1e3a8a")

Line = tuple[Sequence[float], Sequence[float]]


@in_style
def figures(lines: dict[str, Line]) -> tuple[str, bytes]:
    """The curves (seconds, errors) by name, as SVG and as PNG."""
    figure, axes = subplots(1, 1, width=6.4, height=4.0)
    end = max(seconds[-1] for seconds, _ in lines.values())
    floor = _floor(lines)
    spare = iter(SPARE)
    for name, (seconds, errors) in lines.items():
        colour = COLOURS.get(name) or next(spare)
        shown = [max(error, floor) for error in errors]
        label = name if errors[-1] > 0 else f"{name} (no error)"
        axes.plot(seconds, shown, color=colour, label=label, linewidth=1.5)
        axes.plot(seconds[-1:], shown[-1:], color=colour, marker="o", markersize=4)
        # A method that has ended stays where it is.
        axes.plot([seconds[-1], end], [shown[-1]] * 2, color=colour, linewidth=1, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="mean absolute error")
    axes.legend()
    return svg(figure), png(figure)


def _floor(lines: dict[str, Line]) -> float:
    """Where an error of zero is drawn: below all others."""
    known = [error for _, errors in lines.values() for error in errors if error > 0]
    return 0.3 * min(known, default=1e-9)
