"""Scores of entities against seqeval, and intervals against drawing documents one by one."""

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score

from herded import HerdedError
from herded.ner.entity_scoring import Score, bootstrap, score
from herded.ner.text.labels import spans, to_bio

LABELS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG"]


@st.composite
def guesses(draw, n_guesses=1):
    """Sentences of the same lengths, labelled at random `1 + n_guesses` times."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    label = st.sampled_from(LABELS)
    return [
        [draw(st.lists(label, min_size=n, max_size=n)) for n in lengths]
        for _ in range(1 + n_guesses)
    ]


@given(guesses())
def test_scores_are_those_of_seqeval(labels):
    truth, guess = labels
    ours = score(truth, guess)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions by zero
        assert ours.precision == pytest.approx(precision_score(truth, guess), abs=1e-12)
        assert ours.recall == pytest.approx(recall_score(truth, guess), abs=1e-12)
        assert ours.f1 == pytest.approx(f1_score(truth, guess), abs=1e-12)
        if not ours.kinds:  # of nothing seqeval has no report
            return
        report = classification_report(truth, guess, output_dict=True)
    assert list(ours.kinds) == [name for name in report if " " not in name]
    for kind, part in ours.kinds.items():
        theirs = report[kind]
        assert part.support == theirs["support"]
        assert part.precision == pytest.approx(theirs["precision"], abs=1e-12)
        assert part.recall == pytest.approx(theirs["recall"], abs=1e-12)
        assert part.f1 == pytest.approx(theirs["f1-score"], abs=1e-12)


@given(guesses())
def test_io_and_bio_may_be_mixed(labels):
    truth, guess = labels
    io = [[label.removeprefix("B-").removeprefix("I-") for label in each] for each in guess]
    assert score(truth, io) == score(truth, [to_bio(each) for each in io])


def test_nothing_found_is_zero():
    nothing = score([["O"]], [["O"]])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.support) == (0, 0, 0, 0)
    assert score([], []) == nothing == Score(0, 0, 0)


def test_the_table_reads_well():
    shown = str(score([["B-PER", "O", "B-ORG"]], [["B-PER", "O", "O"]]))
    assert shown.splitlines() == [
        "     precision  recall      F1  support",
        "ORG     0.0000  0.0000  0.0000        1",
        "PER     1.0000  1.0000  1.0000        1",
        "all     1.0000  0.5000  0.6667        2",
    ]


def test_unequal_lengths_are_refused():
    with pytest.raises(HerdedError, match="expected 2 guessed sentences, as in the truth, got 1"):
        score([["O"], ["O"]], [["O"]])
    with pytest.raises(HerdedError, match="expected 1 guessed labels of sentence 0"):
        score([["O"]], [["O", "O"]])
    with pytest.raises(HerdedError, match="expected 1 guessed documents"):
        bootstrap([[["O"]]], [])
    with pytest.raises(HerdedError, match="at least 1 document"):
        bootstrap([], [])
    with pytest.raises(HerdedError, match="at least 1 resample"):
        bootstrap([[["O"]]], [[["O"]]], resamples=0)


def documents(seed, n=30):
    """Truth and two guesses, the second better."""
    rng = np.random.default_rng(seed)
    truth = [[rng.choice(LABELS, 8).tolist() for _ in range(3)] for _ in range(n)]

    def spoiled(rate):
        return [
            [[rng.choice(LABELS) if rng.random() < rate else x for x in s] for s in document]
            for document in truth
        ]

    return truth, spoiled(0.4), spoiled(0.2)


def test_intervals_are_those_of_drawing_documents_one_by_one(monkeypatch):
    known = functools.cache(spans)  # of sentences that are drawn hundreds of times
    monkeypatch.setattr("herded.ner.entity_scoring.spans", lambda labels: known(tuple(labels)))
    truth, worse, better = documents(1)
    found = bootstrap(truth, worse, better, resamples=2000, seed=5)
    rng = np.random.default_rng(7)
    differences = []
    for _ in range(400):
        drawn = rng.integers(0, len(truth), len(truth))
        wanted = [s for i in drawn for s in truth[i]]
        f1 = [score(wanted, [s for i in drawn for s in guess[i]]).f1 for guess in (worse, better)]
        differences.append(f1[1] - f1[0])
    low, high = np.quantile(differences, [0.025, 0.975])
    width = high - low
    assert abs(found.low - low) < 0.2 * width and abs(found.high - high) < 0.2 * width
    assert 0 < found.low < found.value < found.high


def test_the_value_is_that_of_all_documents():
    truth, guess, other = documents(2)
    flat = [[s for document in labels for s in document] for labels in (truth, guess, other)]
    single = bootstrap(truth, guess, resamples=50)
    assert single.value == score(flat[0], flat[1]).f1
    assert single.low < single.value < single.high
    expected = score(flat[0], flat[2]).f1 - score(flat[0], flat[1]).f1
    assert bootstrap(truth, guess, other, resamples=50).value == expected
    assert str(single).startswith(f"{single.value:.4f} (")


def test_intervals_depend_on_the_seed_alone(monkeypatch):
    truth, guess, _ = documents(3)
    first = bootstrap(truth, guess, resamples=100, seed=1)
    assert bootstrap(truth, guess, resamples=100, seed=1) == first
    assert bootstrap(truth, guess, resamples=100, seed=2) != first
    # a few resamples at a time
    monkeypatch.setattr("herded.ner.entity_scoring.MAX_BOOTSTRAP_NUMBERS", 70)
    assert bootstrap(truth, guess, resamples=100, seed=1) == first


def test_one_document_leaves_no_doubt():
    truth, guess, _ = documents(4, n=1)
    interval = bootstrap(truth, guess)
    assert interval.low == interval.value == interval.high > 0


def test_documents_without_entities_do_no_harm():
    interval = bootstrap([[["O"]], [["B-PER"]]], [[["O"]], [["B-PER"]]], resamples=200)
    assert (interval.value, interval.low, interval.high) == (1.0, 0.0, 1.0)
