"""The page of the paper: claims with marks, symbols typeset, pictures first, herding's pictures."""

import re

import numpy as np
import pytest

from herded.paper import dynamics, dynamics_figures, html_page
from herded.paper.math_symbols import typeset
from herded.paper.ner import example as ner_example
from herded.paper.report import Figure, Passage, Section, Table, Verdict


def shown(*parts, verdicts=()):
    return html_page.page([Section("Title", "text", list(verdicts), list(parts))], "herded paper")


def test_claims_are_listed_with_their_marks():
    verdicts = [
        Verdict("found one", "the first claim", True),
        Verdict("found two", "the second claim", False),
        Verdict("nobody claims this"),
    ]
    text = shown(verdicts=verdicts)
    claims = text[text.index('id="claims"') : text.index("<section")]
    marks = re.findall(r'class="mark (\w+)" role="img" aria-label="([\w ]+)"', claims)
    assert marks == [("yes", "holds"), ("no", "does not hold")]
    assert "nobody claims this" not in claims and "nobody claims this" in text
    assert 'href="#part-1"' in claims and 'id="part-1"' in text


def test_a_page_without_claims_has_no_list_of_them():
    assert 'id="claims"' not in shown(verdicts=[Verdict("x")])


def test_pictures_come_before_tables():
    table = Table("t", "Constants. And more of them.", ["eps"], [["1"]], folded=True)
    text = shown(table, Figure(["<svg>1</svg>", "<svg>2</svg>"], "two"))
    assert text.index("<svg>2") < text.index("<details>")
    assert "<summary>Constants.</summary>" in text and "And more of them." in text
    assert 'class="panels panels-2"' in text


def test_names_in_a_passage_are_marked_and_escaped():
    text = shown(Passage([("<a> ", None), ("Tim & Co", "ORGANIZATION")], "c"))
    assert '&lt;a&gt; <mark class="organization">Tim &amp; Co</mark>' in text


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("d_v(P_T, pi)", "<msub><mi>d</mi><mi>v</mi></msub>"),
        ("at sigma = 4", "<mi>σ</mi>"),
        ("from 10/eps on", "<mi>ε</mi>"),
        ("T* sweeps", "<msup><mi>T</mi><mo>*</mo></msup>"),
        ("P(X1 = 1)", "<msub><mi>X</mi><mn>1</mn></msub>"),
    ],
)
def test_symbols_are_typeset(text, symbol):
    found = typeset(text)
    assert symbol in found and found.count("<math>") == found.count("</math>") == 1


@pytest.mark.parametrize("text", ["pine", "pip install", "epsilon", "capital", "metal", "a-pi"])
def test_words_are_no_symbols(text):
    assert typeset(text) == text
    assert typeset("a < b & pi") == "a &lt; b &amp; <math><mi>π</mi></math>"


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.5, 0.9])
def test_the_weight_stays_in_its_interval(chance):
    values, ones = dynamics_figures.weights(chance, 500)
    assert (values > chance - 1 - 1e-9).all() and (values <= chance + 1e-9).all()
    assert (ones == (values > 0)).all()
    assert abs(np.cumsum(ones) - chance * np.arange(1, 501)).max() <= 1
    assert dynamics.max_stray_count(chance) <= 1


def test_fair_coins_lock_and_a_herd_does_not():
    free, _, locked, herd = (
        dynamics._row(name, chances, method)
        for name, chances in dynamics._PAIRS
        for method in dynamics._METHODS
    )
    assert (free[2], locked[2], herd[2]) == (4, 2, 4)
    assert float(free[3]) < 0.01 and float(locked[3]) == 0.5 and float(herd[3]) < 0.01


def test_a_text_is_marked_whole():
    from herded.ner.recogniser import load

    passage, verdict = ner_example.annotate_text(load())
    assert "".join(piece for piece, _ in passage.pieces) == ner_example.TEXT
    assert {kind for _, kind in passage.pieces} == {None, "PERSON", "LOCATION", "ORGANIZATION"}
    assert verdict.claim and verdict.holds


def test_the_first_picture_opens_the_page():
    """Before the contents, and only there; without pictures there is none."""
    first, second = Figure(["<svg id='one'/>"], "first"), Figure(["<svg id='two'/>"], "second")
    text = shown(first, second)
    assert text.count("id='one'") == 1
    assert text.index("id='one'") < text.index("<nav") < text.index("id='two'")
    assert "<figure>" not in shown()[: shown().index("<nav")]
