"""Skip-chains: links, scores, ties, rounds and decoders against twins and full enumeration."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded.ner
from herded.errors import CorpusError, HerdedError, MethodError
from herded.ner import CRF, DECODERS, Document, Sentence, SkipCRF, read_conll
from herded.ner.crf.chain_weights import ChainWeights, first_transitions
from herded.ner.crf.decoding import decode
from herded.ner.crf.encoded_batch import encode
from herded.ner.crf.iterated_viterbi import iterate_viterbi, sentence_rounds
from herded.ner.crf.normal_equations import gram_matrix, solve_symmetric
from herded.ner.crf.skip_chain import (
    TieWeights,
    TrainingDocument,
    build_document_model,
    fit_ties,
    label_kinds,
    sentence_gradients,
)
from herded.ner.text.word_atoms import Vocabulary
from tests.conformance.twins.learning.recogniser import (
    labelling_score,
    naive_gradient,
    naive_rounds,
    naive_viterbi,
    skip_score,
)
from tests.support.example_budget import examples

calm = examples(30)
SAMPLE = Path(herded.ner.__file__).parent / "data" / "sample.conll"
LABELS = (("O", "A"), ("O", "A", "C"), ("O", "B-A", "I-A"), ("O", "B-A", "I-A", "B-C", "I-C"))
LINKED = ["Ann", "Bo", "saw", "Ann"]


@st.composite
def cases(draw, labels=LABELS, longest=3, sentences=4, scale=1.5):
    """(chain, batch, scores, ties) of a few words, many of them linked."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sentence = st.lists(st.sampled_from(LINKED), max_size=longest)
    documents = draw(st.lists(st.lists(sentence, max_size=sentences), min_size=1, max_size=2))
    batch = encode(documents, Vocabulary(), None)
    assume(len(batch.types))
    names = draw(st.sampled_from(labels))
    transitions = first_transitions(names)
    transitions += scale * rng.normal(size=transitions.shape)
    chain = ChainWeights(names, np.zeros((2, len(names)), np.float32), transitions)
    table = scale * rng.normal(size=(1 + len(chain.kinds),) * 2)
    ties = TieWeights(table + table.T, rng.uniform(0.3, 2), draw(st.sampled_from(["next", "all"])))
    return chain, batch, scale * rng.normal(size=(len(batch.types), len(names))), ties


def score_of(case, y):
    chain, batch, scores, ties = case
    links, table = ties.links(batch), ties.potentials(chain)
    return skip_score(chain, batch.starts, scores, *links, table, ties.trust, y)


@calm
@given(cases(), st.integers(0, 2**32 - 1))
def test_the_graph_has_the_score_of_the_formula(case, seed):
    chain, batch, scores, ties = case
    before = scores.copy()
    rng, (n, width) = np.random.default_rng(seed), scores.shape
    skip, plain = (
        build_document_model(chain, batch, scores, ties),
        build_document_model(chain, batch, scores),
    )
    states = [chain.best(scores, batch.starts), *rng.integers(0, width, (5, n))]
    for y in states:
        alone = sum(
            labelling_score(scores[a:b], chain.transitions, y[a:b])
            for a, b in itertools.pairwise(batch.starts)
        )
        assert plain.log_score(y) == pytest.approx(alone, rel=1e-12, abs=1e-12)
        assert skip.log_score(y) == pytest.approx(score_of(case, y), rel=1e-12, abs=1e-12)
    assert np.array_equal(scores, before)


def test_a_graph_of_single_words_without_links():
    batch = encode([[["one"], [], ["two"]]], Vocabulary(), None)
    chain = ChainWeights(
        ("O", "A"), np.zeros((2, 2), np.float32), np.array([[1.0, 2], [3, 4], [5, 7]])
    )
    scores = np.array([[0.5, 0.25], [1.5, 2.5]])
    model = build_document_model(chain, batch, scores, TieWeights(np.ones((2, 2)), 2.0))
    assert model.log_score([0, 1]) == 2 * (0.5 + 5 + 2.5 + 7)


def test_kinds_of_labels():
    chain = ChainWeights(LABELS[3], np.zeros((2, 5), np.float32), first_transitions(LABELS[3]))
    assert chain.kinds == ("A", "C") and label_kinds(chain).tolist() == [0, 1, 1, 2, 2]
    ties = TieWeights(np.arange(9.0).reshape(3, 3))
    assert ties.potentials(chain)[3].tolist() == [6, 7, 7, 8, 8]


@calm
@given(cases(), st.integers(0, 2**32 - 1))
def test_gradients_equal_the_twin_and_finite_differences(case, seed):
    chain, batch, scores, ties = case
    rng, kinds, starts = np.random.default_rng(seed), label_kinds(chain), batch.starts
    n, table = len(ties.table), ties.table
    linked = rng.integers(0, 3, (len(scores), n)).astype(float)
    labels = chain.best(scores, starts)  # a possible labelling
    parts = np.zeros((len(starts) - 1, 1 + n * n))
    arrays = (scores, chain.transitions, starts, labels, linked)
    value = sentence_gradients(*arrays, table, kinds, ties.trust, parts)
    total = 0.0
    for s, (a, b) in enumerate(itertools.pairwise(starts)):
        if a == b:
            assert not parts[s].any()
            continue
        pieces = scores[a:b], chain.transitions, labels[a:b], linked[a:b]
        part, gradient = naive_gradient(*pieces, table, kinds, ties.trust)
        total += part
        assert parts[s].tobytes() == gradient.tobytes()
    # The kernel adds word by word, the twin sentence by sentence.
    assert value == pytest.approx(total, rel=1e-12, abs=1e-12)

    def at(trust, moved):
        return sentence_gradients(*arrays, moved, kinds, trust, np.zeros_like(parts))

    step, summed = 1e-5, parts.sum(axis=0)
    ends = at(ties.trust + step, table), at(ties.trust - step, table)
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(summed[0], abs=1e-5)
    for i, j in np.ndindex(n, n):
        move = np.zeros((n, n))
        move[i, j] = step
        ends = at(ties.trust, table + move), at(ties.trust, table - move)
        wanted = summed[1 + i * n + j]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(wanted, abs=1e-6)


@calm
@given(cases())
def test_rounds_equal_the_twin_and_never_lower_the_score(case):
    chain, batch, scores, ties = case
    links, table = ties.links(batch), ties.potentials(chain)
    first = chain.best(scores, batch.starts)
    found = iterate_viterbi(chain, batch, scores, ties)
    assert score_of(case, found) >= score_of(case, first) - 1e-12
    twin = first.tolist()
    parts = ties.trust * scores, ties.trust * chain.transitions
    naive_rounds(*parts, batch.starts, *links, table, 100, twin)
    assert found.tolist() == twin
    for a, b in itertools.pairwise(batch.starts):
        if any(a <= i and j < b for i, j in links.edges):
            continue  # Viterbi cannot know what two linked words would do together
        for y in itertools.product(range(len(chain.labels)), repeat=b - a):
            moved = [*found[:a], *y, *found[b:]]
            assert score_of(case, moved) <= score_of(case, found) + 1e-9


def test_links_within_a_sentence_do_not_make_rounds_swing():
    """Each of two words would take the other's label, again and again."""
    batch = encode([[["Ann", "Ann"]]], Vocabulary(), None)
    chain = ChainWeights(("O", "A"), np.zeros((2, 2), np.float32), np.zeros((3, 2)))
    scores = np.array([[1.0, 0.0], [0.0, 1.0]])
    case = chain, batch, scores, TieWeights(np.array([[2.0, -2.0], [-2.0, 2.0]]))
    found = iterate_viterbi(*case)
    assert score_of(case, found) == max(
        score_of(case, y) for y in itertools.product((0, 1), repeat=2)
    )


def test_rounds_are_counted_and_bounded():
    scores = np.array([[1.0, 0.0], [0.0, 0.5]])
    table = np.array([[2.0, -2.0], [-2.0, 2.0]])
    links = np.array([0, 1, 2]), np.array([1, 0]), np.ones(2)
    for rounds, made in ((100, 1), (1, 1), (0, 0)):
        labels = np.array([*naive_viterbi(scores[:1], np.zeros((3, 2))), 1])
        starts = np.array([0, 1, 2])
        args = scores, np.zeros((3, 2)), starts, *links, table, rounds, labels
        assert sentence_rounds(*args) == made
        assert labels.tolist() == ([1, 1] if rounds else [0, 1])


def random_example(chain, rng):
    """Documents whose labels the chain gets right more often than not."""
    words = np.array(["Ann", "Bo", "saw"])
    documents = [
        [words[rng.integers(0, 3, rng.integers(0, 4))].tolist() for _ in range(rng.integers(1, 6))]
        for _ in range(rng.integers(1, 8))
    ]
    batch = encode(documents, Vocabulary(), None)
    noise = 2 * rng.normal(size=(len(batch.types), len(chain.labels)))
    return TrainingDocument(chain, batch, chain.best(chain.scores(batch) + noise, batch.starts))


@pytest.mark.parametrize("seed", range(4))
def test_fitted_ties_are_the_best(seed):
    rng = np.random.default_rng(seed)
    weights = 0.3 * rng.normal(size=(256, 3)).astype(np.float32)
    chain = ChainWeights(("O", "A", "C"), weights, rng.normal(size=(4, 3)))
    kinds, examples = label_kinds(chain), [random_example(chain, rng) for _ in range(2)]
    ties = fit_ties(examples, "next")
    assert ties.trust > 0 and np.array_equal(ties.table, ties.table.T) and ties.rule == "next"

    def objective(trust, table):
        """What the module says: the pseudo-likelihood less half the squares of S's entries."""
        total = -0.5 * float((table[np.triu_indices(3)] ** 2).sum())
        for example in examples:
            scores, starts = chain.scores(example.batch), example.batch.starts
            guess = kinds[chain.best(scores, starts)]
            linked = np.zeros((len(scores), 3))
            for (i, j), strength in zip(*ties.links(example.batch), strict=True):
                linked[i, guess[j]] += strength
                linked[j, guess[i]] += strength
            for a, b in itertools.pairwise(starts):
                if a < b:
                    arrays = scores[a:b], chain.transitions, example.labels[a:b], linked[a:b]
                    total += naive_gradient(*arrays, table, kinds, trust)[0]
        return total

    best = objective(ties.trust, ties.table)
    assert best > objective(1.0, np.zeros((3, 3)))
    for _ in range(20):
        move = 0.05 * rng.normal(size=(3, 3))
        tried = objective(ties.trust * rng.uniform(0.95, 1.05), ties.table + move + move.T)
        assert tried < best + 1e-5 * abs(best)


def best_of_all(case):
    chain, _, scores, _ = case
    states = itertools.product(range(len(chain.labels)), repeat=len(scores))
    listed = [(score_of(case, y), y) for y in states]
    return max(listed)[0], listed


@examples(8)
@given(cases(labels=LABELS[1:2], sentences=2, longest=2, scale=0.7))
def test_samplers_find_the_best_labelling_of_small_documents(case):
    chain, batch, scores, ties = case
    assume(len(scores) <= 6)
    top, listed = best_of_all(case)
    for decoder in ("herded", "gibbs", "annealed", "annealed-herded"):
        found = decode(chain, batch, scores, decoder=decoder, ties=ties, sweeps=3000)
        assert found.dtype == np.int64
        assert score_of(case, found) == pytest.approx(top, abs=1e-9), decoder
        alone = decode(chain, batch, scores, decoder=decoder, sweeps=1000)
        assert np.array_equal(alone, chain.best(scores, batch.starts))
    stuck = decode(chain, batch, scores, decoder="icm", ties=ties, sweeps=50)
    for i, k in np.ndindex(scores.shape):
        moved = [*stuck[:i], k, *stuck[i + 1 :]]
        assert score_of(case, moved) <= score_of(case, stuck) + 1e-9
    chances = np.exp([value - top for value, _ in listed])
    exact = np.zeros(scores.shape)
    for chance, (_, y) in zip(chances / chances.sum(), listed, strict=True):
        exact[np.arange(len(y)), y] += chance
    found = decode(chain, batch, scores, decoder="max-marginals", ties=ties, sweeps=3000)
    lost = exact.max(axis=1) - exact[np.arange(len(found)), found]
    assert lost.max() < 0.1


@calm
@given(cases(sentences=2))
def test_exact_decoders_of_chains(case):
    chain, batch, scores, _ = case
    best = decode(chain, batch, scores)
    assert np.array_equal(best, chain.best(scores, batch.starts))
    likely = decode(chain, batch, scores, decoder="max-marginals")
    for a, b in itertools.pairwise(batch.starts):
        listed = [
            (labelling_score(scores[a:b], chain.transitions, y), y)
            for y in itertools.product(range(len(chain.labels)), repeat=b - a)
        ]
        p = np.zeros((b - a, len(chain.labels)))
        for value, y in listed:
            p[np.arange(b - a), y] += np.exp(value - max(listed)[0])
        assert likely[a:b].tolist() == p.argmax(axis=1).tolist()


def test_decoders_are_checked_and_take_no_words():
    chain = ChainWeights(("O", "A"), np.zeros((2, 2), np.float32), np.zeros((3, 2)))
    batch = encode([[]], Vocabulary(), None)
    for decoder in DECODERS:
        for ties in (None, TieWeights(np.zeros((2, 2)))):
            empty = decode(chain, batch, np.zeros((0, 2)), decoder=decoder, ties=ties)
            assert empty.shape == (0,) and empty.dtype == np.int64
    with pytest.raises(MethodError, match=r"expected a decoder of viterbi, .* got 'beam'"):
        decode(chain, batch, np.zeros((0, 2)), decoder="beam")


@pytest.fixture(scope="module")
def sample():
    return list(read_conll(SAMPLE))


@pytest.mark.parametrize("scheme", ["io", "bio"])
def test_skip_crf_from_end_to_end(sample, scheme):
    crf = CRF(bits=12, scheme=scheme, epochs=3)
    skip = SkipCRF(crf, decoder="viterbi").fit(sample[:20])
    again = SkipCRF(crf, decoder="viterbi").fit(sample[:20])
    assert np.array_equal(skip.recogniser_.ties.table, again.recogniser_.ties.table)
    assert skip.recogniser_.ties.trust == again.recogniser_.ties.trust > 0
    assert not hasattr(crf, "chain_")
    guess = skip.predict(sample[20:])
    assert [list(map(len, labels)) for labels in guess] == [
        [len(part.words) for part in document.sentences] for document in sample[20:]
    ]
    assert skip.score(sample[20:]) > 0.5
    assert skip.crf_.chain_.labels == CRF(bits=8, scheme=scheme, epochs=1).fit(sample).chain_.labels


def test_a_kind_that_only_one_fold_has(sample):
    rare = Document("zoo", (Sentence(("Rex", "barks"), ("B-ANIMAL", "O")),))
    skip = SkipCRF(CRF(bits=8, epochs=1), decoder="viterbi").fit([rare, *sample[:5]], repeats=2)
    assert skip.recogniser_.kinds == ("ANIMAL", "LOCATION", "ORGANIZATION", "PERSON")
    extra = SkipCRF(CRF(bits=8, epochs=1)).fit(sample[:4], extra=[rare])
    assert extra.recogniser_.kinds == skip.recogniser_.kinds


def test_documents_without_names():
    plain = [Document(str(n), (Sentence(("it", "rains"), ("O", "O")),)) for n in range(3)]
    skip = SkipCRF(CRF(bits=8), decoder="viterbi").fit(plain)
    assert skip.recogniser_.ties.trust == 1.0
    assert skip.predict(plain) == [[("O", "O")]] * 3 and skip.predict([]) == []


def test_skip_crf_says_what_it_expects(sample):
    few, bare = sample[:3], [["Ann", "left"]]
    for bad in ("text", bare, [], 5, few[0], iter(few)):
        with pytest.raises(CorpusError, match="expected a list of documents"):
            SkipCRF(CRF(bits=8)).fit(bad)
    unlabelled = [Document("d", (Sentence(("a",)),))] * 3
    with pytest.raises(CorpusError, match="expected 1 labels for sentence 0, got none"):
        SkipCRF(CRF(bits=8)).fit(unlabelled)
    with pytest.raises(CorpusError, match="expected no y"):
        SkipCRF(CRF(bits=8)).fit(few, [["O"]])
    for options, words in (
        ({"folds": 4}, "folds from 2 to 3, got 4"), ({"folds": 1}, "folds"),
        ({"rule": "x"}, "rule"),
        ({"rule": []}, "rule"), ({"decoder": "beam"}, "decoder"), ({"crf": "crf"}, "a CRF or None"),
    ):  # fmt: skip
        with pytest.raises(MethodError, match=words):
            SkipCRF(**options).fit(few)
    with pytest.raises(MethodError, match="repeats of 1 or more, got 0"):
        SkipCRF().fit(few, repeats=0)
    with pytest.raises(MethodError, match="expected a fitted SkipCRF"):
        SkipCRF().predict(few)
    skip = SkipCRF(CRF(bits=8, epochs=1), decoder="herded", sweeps=0).fit(few)
    with pytest.raises(CorpusError, match="expected a list of documents"):
        skip.predict(bare)
    with pytest.raises(HerdedError, match="sweeps"):
        skip.predict(few)
    with pytest.raises(MethodError, match="got 'fold'"):
        skip.set_params(fold=3)
    assert skip.set_params(folds=3).get_params()["folds"] == 3


def test_equations_without_lapack():
    rng = np.random.default_rng(5)
    for n in (1, 2, 16):
        parts, right = rng.normal(size=(3 * n, n)), rng.normal(size=n)
        matrix = gram_matrix(parts)
        np.testing.assert_allclose(matrix, parts.T @ parts, atol=1e-12)
        np.testing.assert_allclose(
            solve_symmetric(matrix, right), np.linalg.solve(matrix, right), rtol=1e-9
        )
    nothing = np.diag([1e-30, 1.0])  # no information on trust
    assert solve_symmetric(nothing, np.array([0.0, 3.0])).tolist() == [0.0, 3.0]
