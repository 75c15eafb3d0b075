"""The law of every layout and method beside exact answers: `python -m benchmarks bias`."""

from collections.abc import Iterator
from textwrap import wrap

from benchmarks.accuracy.bias import energies, herding_in_time, joints, single_variables
from benchmarks.accuracy.bias.e_values import FALSE_ALARMS, LIMIT

TITLE = "# Bias: layouts and methods beside exact answers"
WORDS = (
    f"A test rejects where its log e-value passes {LIMIT:.1f}: that has a probability of at most "
    f"{FALSE_ALARMS:g} if the law is exact, however often one looks. The docstrings of "
    "`benchmarks/accuracy/bias` say what the tests assume."
)
PARTS = (
    (
        "Single variables",
        "Probabilities from 1e-9 to 1 - 1e-9, 12 in each model: how often states were drawn, over "
        "how often they should be, and the largest log e-values of all 12, of the states that were "
        "drawn and of the conditionals that were recorded.",
        single_variables.lines,
    ),
    (
        "Herding in time",
        "How far counts are from the sum of the conditionals, in visits: by Lemma 1 at most 1 for "
        "each weight of a variable of two states, however long the run is. Herds round "
        "conditionals at random: their distance grows with the square root of the visits.",
        herding_in_time.lines,
    ),
    (
        "Four variables",
        "Blocks of four with strong couplings beside the enumerated joint: joint states below 1e-3 "
        "over what they should be, and the largest log e-value of all joint states.",
        joints.lines,
    ),
    (
        "Energies",
        "Mean energies of independent runs; every |z| is to be below 4.",
        energies.lines,
    ),
)


def lines(quick: bool) -> Iterator[str]:
    yield from wrap(WORDS, 100, break_on_hyphens=False)
    for title, words, rows in PARTS:
        yield from ("", f"## {title}", "")
        yield from wrap(words, 100, break_on_hyphens=False)
        yield ""
        yield from rows(quick)
