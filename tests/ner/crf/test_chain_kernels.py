"""Chains and their training against slow twins, bit for bit, and against listing all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.ner.crf.adagrad_training import CRFTrainer, count_row_uses, train_sentences
from herded.ner.crf.chain_kernels import (
    forward_backward,
    sentence_marginals,
    span_probabilities,
    sum_weights,
    viterbi_of_sentences,
)
from herded.ner.crf.chain_weights import ChainWeights, first_transitions
from herded.ner.crf.encoded_batch import encode
from herded.ner.text.word_atoms import Vocabulary
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.learning.recogniser import (
    enumerate_chain,
    labelling_score,
    labellings,
    naive_draw,
    naive_forward_backward,
    naive_rows,
    naive_scores,
    naive_span,
    naive_step,
    naive_viterbi,
)
from tests.support.example_budget import examples

calm = examples(60)
BIO = ("O", "B-A", "I-A", "B-C", "I-C")


@st.composite
def problems(draw, longest=4, sentences=1, whole=False):
    """(scores, transitions, starts): IO with any number of labels, or BIO with forbidden ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(st.sampled_from([("O",), ("O", "A"), ("O", "A", "C"), BIO[:3], BIO]))
    most = min(longest, 3 if len(labels) > 3 else longest)
    least = 0 if sentences > 1 else 1
    lengths = [draw(st.integers(least, most)) for _ in range(sentences)]
    size = draw(st.sampled_from([0.0, 1.0, 10.0]))
    transitions = first_transitions(labels)
    transitions += size * rng.normal(size=transitions.shape)
    scores = size * rng.normal(size=(sum(lengths), len(labels)))
    if whole:
        scores, transitions = np.round(scores / 3), np.round(transitions / 3)
    return scores, transitions, np.cumsum([0, *lengths])


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@calm
@given(problems())
def test_forward_backward(problem):
    scores, transitions, _ = problem
    p, pairs = np.empty_like(scores), np.full(transitions.shape, 0.25)
    log_z = forward_backward(scores, transitions, p, pairs)
    added = np.full(transitions.shape, 0.25)
    twin_log_z, twin_p = naive_forward_backward(scores, transitions, added)
    assert log_z == twin_log_z and same(p, twin_p) and same(pairs, added)
    # Listing all labellings sums in another order, so that only the last bits may differ.
    true_log_z, true_p, true_pairs, _ = enumerate_chain(scores, transitions)
    assert log_z == pytest.approx(true_log_z, rel=1e-12, abs=1e-12)
    assert p == pytest.approx(true_p, rel=1e-11, abs=1e-13)
    assert pairs - 0.25 == pytest.approx(true_pairs, rel=1e-11, abs=1e-13)


@calm
@given(problems())
def test_derivatives_of_log_z(problem):
    """p and pairs are the derivatives of log Z by scores and transitions."""
    scores, transitions, _ = problem
    p, pairs = np.empty_like(scores), np.zeros_like(transitions)
    forward_backward(scores, transitions, p, pairs)

    def difference(array, at, step=1e-5):
        ends = []
        for move in (step, -step):
            before, array[at] = array[at], array[at] + move
            ends.append(enumerate_chain(scores, transitions)[0])
            array[at] = before
        return (ends[0] - ends[1]) / (2 * step)

    i, k = len(scores) // 2, scores.shape[1] - 1
    assert p[i, k] == pytest.approx(difference(scores, (i, k)), abs=1e-7)
    for at in map(tuple, np.argwhere(transitions > -np.inf)[::3]):
        assert pairs[at] == pytest.approx(difference(transitions, at), abs=1e-7)


@calm
@given(problems(sentences=4))
def test_marginals_of_sentences(problem):
    scores, transitions, starts = problem
    p = np.full(scores.shape, np.nan)
    log_z = sentence_marginals(scores, transitions, starts, p)
    total = 0.0
    for a, b in itertools.pairwise(starts):
        if a < b:
            pairs = np.zeros(transitions.shape)
            part, wanted = naive_forward_backward(scores[a:b], transitions, pairs)
            total += part
            assert same(p[a:b], wanted)
    assert log_z == total


@calm
@given(problems(sentences=4, whole=True))
def test_viterbi_takes_the_lowest_of_equals(problem):
    scores, transitions, starts = problem
    best = np.full(len(scores), -1)
    viterbi_of_sentences(scores, transitions, starts, best)
    for a, b in itertools.pairwise(starts):
        if a < b:
            wanted = enumerate_chain(scores[a:b], transitions)[3]
            assert tuple(best[a:b]) == wanted == tuple(naive_viterbi(scores[a:b], transitions))


@calm
@given(problems(sentences=5, longest=9))
def test_viterbi_equals_the_twin_and_the_library(problem):
    scores, transitions, starts = problem
    best = np.full(len(scores), -1)
    viterbi_of_sentences(scores, transitions, starts, best)
    for a, b in itertools.pairwise(starts):
        if a < b:
            assert best[a:b].tolist() == naive_viterbi(scores[a:b], transitions)
    if not scores.any() or not len(scores):
        return  # the library breaks ties otherwise
    unary = scores.copy()
    lengths = np.diff(starts)
    unary[starts[:-1][lengths > 0]] += transitions[-1]
    model = hd.chain_model(unary, transitions[:-1], lengths=lengths[lengths > 0])
    found = hd.infer(model, hd.Viterbi()).best
    assert found.state.tolist() == best.tolist()
    total = sum(
        labelling_score(scores[a:b], transitions, best[a:b]) for a, b in itertools.pairwise(starts)
    )
    assert found.log_score == pytest.approx(total, rel=1e-12, abs=1e-12)


@examples(30)
@given(problems(sentences=3), st.data())
def test_span_probabilities(problem, data):
    scores, transitions, starts = problem
    labels = np.full(len(scores), -1)
    viterbi_of_sentences(scores, transitions, starts, labels)
    spans = [(a, b, f, t) for a, b in itertools.pairwise(starts)
             for f in range(a, b) for t in range(f + 1, b + 1)]  # fmt: skip
    if data.draw(st.booleans()):  # labels that need not be possible
        for i in range(len(labels)):
            labels[i] = data.draw(st.integers(0, scores.shape[1] - 1))
    table = np.array(spans, np.int64).reshape(-1, 4)
    sentences = np.ascontiguousarray(table[:, :2])
    found = np.empty(len(spans))
    span_probabilities(scores, transitions, sentences, table[:, 2], table[:, 3], labels, found)
    for (a, b, f, t), chance in zip(spans, found, strict=True):
        own = labels[a:b].tolist()
        log_z = enumerate_chain(scores[a:b], transitions)[0]
        true = sum(
            np.exp(labelling_score(scores[a:b], transitions, y) - log_z)
            for y in labellings(scores[a:b])
            if list(y[f - a : t - a]) == own[f - a : t - a]
        )
        assert chance == pytest.approx(true, rel=1e-10, abs=1e-14)
        if chance > 0:
            assert chance == naive_span(scores[a:b], transitions, f - a, t - a, own)


def test_long_sentences_neither_overflow_nor_vanish():
    rng = np.random.default_rng(0)
    scores = 300 * rng.normal(size=(3000, 3))
    p, pairs = np.empty_like(scores), np.zeros((4, 3))
    log_z = forward_backward(scores, np.zeros((4, 3)), p, pairs)
    assert log_z == pytest.approx(np.logaddexp.reduce(scores, axis=1).sum(), rel=1e-12)
    assert p == pytest.approx(np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None]))
    assert pairs.sum() == pytest.approx(3000)


TEXT = [["Ada", "met", "Bo"], [], ["Bo", "left"]]
DOCUMENTS = [TEXT, [["Cy"]]]


def learner(seed=0, width=3, **options):
    batch = encode(DOCUMENTS, Vocabulary(), None)
    options = {"rate": 0.1, "l2": 0.5, "dropout": 0.3, "bits": 8, **options}
    transitions = first_transitions(BIO[:3]) if width == 3 else np.zeros((width + 1, width))
    labels = np.array([1, 0, 1, 1, 0, 1], np.int64) % width
    made = CRFTrainer(batch, labels, transitions, seed=seed, **options)
    rng = np.random.default_rng(seed)
    made.learned[:, :width] = 0.1 * rng.normal(size=made.weights.shape)
    made.transitions[:] += 0.5 * rng.normal(size=transitions.shape)
    return made


def rows_of(made):
    batch = made.batch
    return [
        naive_rows(batch.types[a:b], batch.atoms, batch.places[a:b], *made.templates, made.bits)
        for a, b in itertools.pairwise(batch.starts)
    ]


def test_counts_of_rows():
    made = learner()
    counts = np.zeros_like(made.counts)
    for rows in rows_of(made):
        np.add.at(counts, rows, 1)
    assert same(made.counts, counts) and counts.sum() == 6 * 67
    count_row_uses(*made._words(), made.bits, made.counts)
    assert same(made.counts, 2 * counts)


@pytest.mark.parametrize("bits", [8, 12])
def test_scores_of_words(bits):
    made = learner(bits=bits)
    rows = rows_of(made)
    chain = ChainWeights(BIO[:3], made.weights.copy(), made.transitions, 0.75)
    wanted = naive_scores(chain.weights, 0.75, np.concatenate(rows))
    assert same(chain.scores(made.batch), wanted)
    for short in (chain.quantised(), chain.quantised(5)):
        scores = short.scores(made.batch)
        assert same(scores, naive_scores(short.weights, short.scale, np.concatenate(rows)))
    alone = np.empty((3, 3))
    sum_weights(chain.weights, rows[0], alone)
    assert same(alone, naive_scores(chain.weights, 1.0, rows[0]))


@pytest.mark.parametrize(("dropout", "l2", "width"), [(0.0, 0.0, 3), (0.5, 0.7, 3), (0.99, 0.1, 2)])
def test_steps_equal_the_twin(dropout, l2, width):
    made, twin = (learner(7, width, dropout=dropout, l2=l2) for _ in range(2))
    key, order, starts = stream_key(1, 2, 3), np.array([3, 1, 2, 0]), made.batch.starts
    loss = train_sentences(
        order, made.labels, *made._words(), made.bits, made.counts, made.rate, l2, dropout, key,
        made.learned, made.transitions, made.squares,
    )  # fmt: skip
    total, rows = 0.0, rows_of(twin)
    for s in order:
        a, b = starts[s : s + 2]
        if a < b:
            total = naive_step(
                total, rows[s], int(a), len(starts) - 1, twin.labels[a:b].tolist(), twin.counts,
                twin.rate, l2, dropout, key, twin.learned, twin.transitions, twin.squares,
            )  # fmt: skip
    assert same(made.learned, twin.learned)
    assert same(made.transitions, twin.transitions) and same(made.squares, twin.squares)
    assert loss == total


def test_steps_follow_the_gradient_of_the_likelihood():
    """With huge sums of squares, AdaGrad's step is the gradient times one number."""
    made = learner(3, dropout=0.0, l2=0.0)
    rows, width = rows_of(made)[0], 3
    weights, transitions = made.weights.astype(float), made.transitions.copy()
    made.learned[:, width:] = 1e16
    made.squares[:] = 1e16
    labels = made.labels[:3].tolist()

    def loss():
        scores = weights[rows].sum(axis=1)
        log_z = enumerate_chain(scores, transitions)[0]
        return log_z - labelling_score(scores, transitions, labels)

    def difference(array, at, step=1e-5):
        ends = []
        for move in (step, -step):
            before, array[at] = array[at], array[at] + move
            ends.append(loss())
            array[at] = before
        return (ends[0] - ends[1]) / (2 * step)

    got = train_sentences(
        np.array([0]), made.labels, *made._words(), made.bits, made.counts, 1e8, 0.0, 0.0,
        stream_key(0), made.learned, made.transitions, made.squares,
    )  # fmt: skip
    assert got == pytest.approx(loss(), rel=1e-12)
    for at in map(tuple, np.argwhere(transitions > -np.inf)):
        assert transitions[at] - made.transitions[at] == pytest.approx(
            difference(transitions, at), abs=1e-7
        )
    used = np.unique(rows)
    for row, k in itertools.product(used[:: len(used) // 20], range(width)):
        step = weights[row, k] - float(made.learned[row, k])  # weights are kept in 32 bits
        assert step == pytest.approx(difference(weights, (row, k)), abs=2e-6)
    untouched = np.setdiff1d(np.arange(2**made.bits), used)
    assert same(made.weights[untouched], weights[untouched].astype(np.float32))


def test_epochs_visit_each_sentence_once_in_an_order_of_the_seed():
    made, twin = learner(5), learner(5)
    told = []
    loss = made.epoch(lambda sentences: bool(told.append(sentences)))
    n = len(twin.batch.starts) - 1
    draws = [naive_draw(stream_key(5, 0, 1), i) for i in range(n)]
    order = np.array(sorted(range(n), key=draws.__getitem__))
    total = train_sentences(
        order, twin.labels, *twin._words(), twin.bits, twin.counts, twin.rate, twin.l2,
        twin.dropout, stream_key(5, 0, 2), twin.learned, twin.transitions, twin.squares,
    )  # fmt: skip
    assert loss == total / 6 and same(made.learned, twin.learned)
    assert told == [n] and made.done == 1
    assert made.epoch(lambda sentences: True) is None and made.done == 1
