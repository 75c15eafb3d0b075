"""The paper's symbols in plain text, as MathML: "d_v(P_T, pi)" is typeset without a script."""

import html
import re

GREEK = {"eps": "ε", "sigma": "σ", "lambda": "λ", "eta": "η", "tau": "τ", "pi": "π", "phi": "φ"}
MATHML_NAMES = {name: f"<mi>{letter}</mi>" for name, letter in GREEK.items()}


def _sub(letter: str, index: str) -> str:
    kind = "mn" if index.isdigit() else "mi"
    return f"<msub><mi>{letter}</mi><{kind}>{index}</{kind}></msub>"


def _star(letter: str) -> str:
    return f"<msup><mi>{letter}</mi><mo>*</mo></msup>"


MEASURED_LAW = _sub("P", "T")
SYMBOLS = {
    "d_v(P_T, pi)": (
        f"{_sub('d', 'v')}<mo>(</mo>{MEASURED_LAW}<mo>,</mo>{MATHML_NAMES['pi']}<mo>)</mo>"
    ),
    "P(X1 = 1)": f"<mi>P</mi><mo>(</mo>{_sub('X', '1')}<mo>=</mo><mn>1</mn><mo>)</mo>",
    "(pi - 1, pi]": (
        f"<mo>(</mo>{MATHML_NAMES['pi']}<mo>-</mo><mn>1</mn><mo>,</mo>{MATHML_NAMES['pi']}"
        "<mo>]</mo>"
    ),
    "T pi": f"<mi>T</mi>{MATHML_NAMES['pi']}",
    "d_v": _sub("d", "v"),
    "P_T": MEASURED_LAW,
    "pi_min": _sub("π", "min"),
    "tau*": _star("τ"),
    "T*": _star("T"),
    "t*": _star("t"),
    "X1": _sub("X", "1"),
    "X2": _sub("X", "2"),
    "F1": _sub("F", "1"),
    "1/T": "<mn>1</mn><mo>/</mo><mi>T</mi>",
    **MATHML_NAMES,
}
SYMBOL_PATTERN = re.compile(
    r"(?<![\w-])(" + "|".join(map(re.escape, sorted(SYMBOLS, key=len, reverse=True))) + r")(?!\w)"
)


def typeset(text: str) -> str:
    """Typeset a text for a page: escaped, with its symbols as MathML."""
    return SYMBOL_PATTERN.sub(lambda found: f"<math>{SYMBOLS[found[1]]}</math>", html.escape(text))
