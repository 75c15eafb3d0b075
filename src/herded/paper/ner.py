"""Section 4.3 of Bornn et al. (2013): named entity recognition. Not in this version yet.

The parts are there (`hd.chain`, `hd.skip_chain`, `AnnealedGibbs`, `Viterbi`, `BestState`); a
trained recogniser and the experiment are not, and the page says so.
"""

from typing import Any

from herded.paper.report import Section, Table

PAPER = (  # table 3: F1 [seconds] after 100, 400 and 800 sweeps
    ("Annealed Gibbs", "84.36 (0.16) [55.73]", "84.51 (0.10) [83.49]", "84.61 (0.05) [115.92]"),
    ("Herded Gibbs", "84.70 [59.08]", "84.75 [90.48]", "84.81 [132.00]"),
    ("Viterbi", "", "", "84.81 [46.74]"),
)


def section(size: str, progress: Any) -> Section:
    """The paper's table, and that ours is missing."""
    return Section(
        title="Named entity recognition (section 4.3, table 3)",
        text="The paper decodes a chain CRF of the Stanford recogniser on the NIST 1999 IE-ER "
        "corpus with annealed Gibbs, herded Gibbs and Viterbi.",
        verdicts=["Not reproduced in this version: there is no trained recogniser yet."],
        parts=[
            Table(
                "ner-paper",
                "The paper's own numbers: F1 [seconds].",
                ["method", "100 sweeps", "400 sweeps", "800 sweeps"],
                PAPER,
            )
        ],
    )
