"""The CRF as an estimator: habits of scikit-learn, seeds, development sets, and kind errors."""

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import herded.ner
from herded.errors import CorpusError, HerdedError, MethodError
from herded.ner import CRF, Document, Lexicon, Sentence, SkipCRF, read_conll, score
from herded.ner.crf.chain_weights import first_transitions, label_set
from herded.ner.crf.encoded_batch import encode
from herded.ner.text.sentence_inputs import sentences_and_labels
from herded.ner.text.word_atoms import Vocabulary
from tests.conformance.twins.learning.recogniser import enumerate_chain
from tests.support.example_budget import examples

SAMPLE = Path(herded.ner.__file__).parent / "data" / "sample.conll"
X = [["A", "red", "Fox", "ran"], [], ["Blue", "Cat", "Cat"], ["dogs"]]
Y = [["O", "B-COLOUR", "B-ANIMAL", "O"], [], ["COLOUR", "B-ANIMAL", "B-ANIMAL"], ["I-ANIMAL"]]
OPTIONS = {"bits": 10, "dropout": 0.1, "l2": 0.01}
characters = st.characters(exclude_categories=())


@pytest.fixture(scope="module")
def sample():
    return list(read_conll(SAMPLE))


@pytest.fixture(scope="module")
def fitted(sample):
    return CRF(bits=12).fit(sample[:20])


def same_chain(a, b):
    assert a.labels == b.labels and a.scale == b.scale and a.weights.dtype == b.weights.dtype
    return np.array_equal(a.weights, b.weights) and np.array_equal(a.transitions, b.transitions)


def test_arguments_are_kept_and_changed():
    lexicon = Lexicon.from_lists([["Fox"]])
    crf = CRF(bits=9, lexicon=lexicon, scheme="bio", seed=3)
    assert list(crf.get_params()) == [
        "scheme", "epochs", "rate", "l2", "dropout", "patience", "bits", "lexicon", "seed",
        "progress",
    ]  # fmt: skip
    assert crf.set_params(bits=10, rate=0.2) is crf and (crf.bits, crf.rate) == (10, 0.2)
    with pytest.raises(MethodError, match=r"expected one of scheme, .*, got 'size'"):
        crf.set_params(size=3)
    copy = clone(crf.fit(X, Y))
    assert not hasattr(copy, "chain_")
    kept = {name: value for name, value in crf.get_params().items() if name != "lexicon"}
    assert kept.items() <= copy.get_params().items()
    assert same_chain(copy.fit(X, Y).chain_, crf.chain_)
    both = clone(SkipCRF(crf, folds=3))
    assert both.folds == 3 and both.crf.get_params()["bits"] == 10 and both.crf is not crf


@pytest.mark.parametrize("scheme", ["io", "bio"])
def test_other_labels_and_bare_sentences(scheme):
    crf = CRF(scheme=scheme, epochs=20, **OPTIONS).fit(X, Y)
    kinds = {"io": ("ANIMAL", "COLOUR"), "bio": ("B-ANIMAL", "I-ANIMAL", "B-COLOUR", "I-COLOUR")}
    assert crf.chain_.labels == ("O", *kinds[scheme]) and crf.chain_.kinds == kinds["io"]
    guess = crf.predict(X)
    assert guess == {
        "io": [("O", "COLOUR", "ANIMAL", "O"), (), ("COLOUR", "ANIMAL", "ANIMAL"), ("ANIMAL",)],
        "bio": [("O", "B-COLOUR", "B-ANIMAL", "O"), (), ("B-COLOUR", "B-ANIMAL", "B-ANIMAL"),
                ("B-ANIMAL",)],
    }[scheme]  # fmt: skip
    assert crf.score(X, Y) == score(Y, guess).f1 == (1.0 if scheme == "bio" else 8 / 11)
    assert [entry.keys() for entry in crf.history_] == [{"loss"}] * 20
    assert crf.history_[-1]["loss"] < crf.history_[0]["loss"] / 5


def test_label_sets_and_what_may_follow():
    assert label_set([["B-A", "O"], ["C"]], "io") == ("O", "A", "C")
    labels = label_set([["B-A", "O"]], "bio", ["C"])
    assert labels == ("O", "B-A", "I-A", "B-C", "I-C")
    allowed = first_transitions(labels) == 0
    for before, after in itertools.product(range(6), range(5)):
        goes_on = labels[after][:2] == "I-"
        wanted = not goes_on or (before < 5 and labels[before][1:] == labels[after][1:]) or (
            before < 5 and labels[before] == "B-" + labels[after][2:]
        )  # fmt: skip
        assert allowed[before, after] == wanted
    with pytest.raises(CorpusError, match='do not begin with "E-", got "E-MAIL"'):
        CRF(**OPTIONS).fit([["me@x"]], [["B-E-MAIL"]])


def test_documents_give_lists_of_sentences(fitted, sample):
    guess, chances = fitted.predict(sample[20:]), fitted.predict_marginals(sample[20:])
    assert [len(labels) for labels in guess] == [len(d.sentences) for d in sample[20:]]
    for document, labels, p in zip(sample[20:], guess, chances, strict=True):
        for sentence, own, chance in zip(document.sentences, labels, p, strict=True):
            assert len(own) == len(sentence.words) and set(own) <= set(fitted.chain_.labels)
            assert chance.shape == (len(own), 4)
            assert chance.sum(axis=1) == pytest.approx(np.ones(len(own)), abs=1e-12)
    assert fitted.predict([]) == fitted.predict_marginals([]) == []
    assert fitted.predict([Document("d", ())]) == [[]] and fitted.predict([[], [""]])[0] == ()


def test_predictions_are_those_of_all_labellings(fitted):
    words = [["Kenya", "Airways", "flew"], ["Mr.", "Tana"]]
    batch = encode([[sentence] for sentence in words], Vocabulary(), None)
    scores = fitted.chain_.scores(batch)
    guess, chances = fitted.predict(words), fitted.predict_marginals(words)
    for s, (a, b) in enumerate(itertools.pairwise(batch.starts)):
        _, p, _, best = enumerate_chain(scores[a:b], fitted.chain_.transitions)
        assert guess[s] == tuple(fitted.chain_.labels[k] for k in best)
        assert chances[s] == pytest.approx(p, rel=1e-10)


def test_learns_names_it_has_not_seen(fitted, sample):
    truth = sentences_and_labels(sample[20:])[1]
    assert score(truth, [["O"] * len(labels) for labels in truth]).f1 == 0
    most = "LOCATION"  # every capitalised word
    guess = [
        [most if word[0].isupper() else "O" for word in sentence.words]
        for document in sample[20:]
        for sentence in document.sentences
    ]
    assert fitted.score(sample[20:]) > max(0.6, 2 * score(truth, guess).f1)
    assert fitted.score(sample[:20]) > 0.95


def test_seeds_give_the_same_bits_and_others_do_not(sample):
    fits = [CRF(bits=9, epochs=2, seed=seed).fit(sample[:5]) for seed in (0, 0, 1)]
    assert same_chain(fits[0].chain_, fits[1].chain_) and fits[0].history_ == fits[1].history_
    assert not same_chain(fits[0].chain_, fits[2].chain_)
    first = fits[0].chain_.weights.copy()
    again = fits[0].fit(sample[:5])  # a second fit starts anew
    assert np.array_equal(again.chain_.weights, first) and len(again.history_) == 2
    numbers = {"epochs": np.int64(2), "rate": Fraction(1, 10), "bits": np.int32(9), "dropout": 0.3}
    assert np.array_equal(CRF(**numbers).fit(sample[:5]).chain_.weights, first)


def test_the_development_set_says_when_to_stop(sample):
    options = {"bits": 9, "epochs": 12, "rate": 0.3, "seed": 1}
    crf = CRF(**options, patience=3).fit(sample[:4], dev=sample[20:])
    figures = [entry["f1"] for entry in crf.history_]
    best = int(np.argmax(figures))
    assert len(figures) == min(12, best + 1 + 3) < 12
    assert crf.score(sample[20:]) == max(figures)
    alone = CRF(**{**options, "epochs": best + 1}).fit(sample[:4])
    assert same_chain(alone.chain_, crf.chain_)
    pair = [
        [s.words for d in sample[20:] for s in d.sentences],
        sentences_and_labels(sample[20:])[1],
    ]
    one = CRF(bits=9, epochs=1).fit(sample[:4], dev=tuple(pair))
    assert one.history_[0]["f1"] == one.score(*pair)
    whole = CRF(bits=9, epochs=1).fit(sample[:4], dev=tuple(sample[20:23]))
    assert whole.history_[0]["f1"] == whole.score(sample[20:23])


def test_other_sentences_of_a_document_count():
    sentences = [["Bush", "spoke"], ["He", "met", "Bush"], ["the", "bush", "grew"]]
    together = encode([sentences], Vocabulary(), None).places[:, 0]
    apart = encode([[sentence] for sentence in sentences], Vocabulary(), None).places[:, 0]
    assert not np.array_equal(together, apart)
    document = Document("d", tuple(Sentence(tuple(s), ("O",) * len(s)) for s in sentences))
    options = {"bits": 16, "epochs": 1, "dropout": 0}
    bare = CRF(**options).fit(sentences, [["O"] * len(s) for s in sentences], kinds=["PERSON"])
    whole = CRF(**options).fit([document], kinds=["PERSON"])
    assert bare.chain_.labels == whole.chain_.labels == ("O", "PERSON")
    assert not np.array_equal(bare.chain_.weights, whole.chain_.weights)


@pytest.mark.parametrize(
    ("words", "labels", "message"),
    [
        ("text", [["O"]], "expected a list of documents or of sentences, got 'text'"),
        (b"text", [["O"]] * 4, "expected sentences as lists of words"),
        (["text"], [["O"]], "ner.document_of first"),
        ([["a", 3]], [["O", "O"]], "expected words as strings"),
        ([[["a"]]], [["O"]], "expected words as strings"),
        ([["a"], ["b"]], [["O"]], "expected labels for 2 sentences, got 1"),
        ([["a", "b"]], [["O"]], "expected 2 labels for sentence 0, got 1"),
        ([["a"]], [None], "expected 1 labels for sentence 0, got none"),
        ([["a", "b"]], ["OO"], "expected strings as labels of sentence 0, got 'OO'"),
        ([["a"]], [[3]], "expected strings as labels"),
        ([["a"]], [3], "expected strings as labels"),
        ([["a"]], 3, "expected a list of labels for each sentence as y, got 3"),
        ([["a"]], "O", "expected a list of labels for each sentence as y, got 'O'"),
        ([["a"]], None, "expected labels y for bare sentences, got none"),
        ([], None, "got none"),
        ([], [], r"expected words .*, got none"),
        ([[], []], [[], []], r"expected words .*, got none"),
        ([Document("d", ())], None, r"expected words .*, got none"),
        ([Document("d", (Sentence(("a",)),))], None, "expected 1 labels for sentence 0, got none"),
        ([Document("d", (Sentence((3,), ("O",)),))], None, "expected words as strings, got 3"),
        ([Document("d", (Sentence(([],), ("O",)),))], None, "expected words as strings"),
        ([Document("d", ()), ["a"]], [["O"]], "expected sentences as lists of words"),
        ([Document("d", ())], [["O"]], "expected no y with documents"),
        (Document("d", ()), None, "expected a list of documents"),
        (7, [["O"]], "expected a list of documents"),
        (iter([["a"]]), [["O"]], "expected a list of documents"),
    ],
)
def test_what_cannot_be_learned_from(words, labels, message):
    with pytest.raises(CorpusError, match=message):
        CRF(**OPTIONS).fit(words, labels)
    with pytest.raises(CorpusError, match=message):
        CRF(**OPTIONS).fit(X, Y, dev=(words, labels))


@pytest.mark.parametrize(
    "options",
    [
        {"dropout": 1}, {"dropout": -0.1}, {"dropout": float("nan")}, {"bits": 99}, {"bits": 7},
        {"bits": 10.0}, {"bits": True}, {"rate": "fast"}, {"rate": -1}, {"l2": None}, {"epochs": 0},
        {"epochs": 2.5}, {"patience": 0}, {"seed": -1}, {"seed": 1.5}, {"scheme": "iob"},
        {"scheme": []}, {"lexicon": ["Paris"]},
    ],
)  # fmt: skip
def test_arguments_are_checked(options):
    with pytest.raises(MethodError, match=next(iter(options)) + "|Lexicon"):
        CRF(**options).fit(X, Y)


def test_a_rate_that_is_too_high_is_told():
    crf = CRF(bits=8, rate=1000, epochs=50, scheme="bio")
    with pytest.raises(
        MethodError, match="expected a rate with which training converges, got 1000"
    ):
        crf.fit(X, Y)


@pytest.mark.parametrize("call", ["predict", "predict_marginals", "score"])
def test_only_a_fitted_crf_predicts(call, fitted):
    with pytest.raises(MethodError, match="expected a fitted CRF, got a new one"):
        getattr(CRF(), call)(X)
    for bad in ("text", ["text"], [[3]], 5):
        with pytest.raises(HerdedError, match="expected"):
            getattr(fitted, call)(bad)


def test_ctrl_c_keeps_the_last_whole_epoch(monkeypatch, sample):
    alone = CRF(bits=9, epochs=1).fit(sample[:5])
    real, seen = herded.ner.crf.adagrad_training.CRFTrainer.epoch, []

    def epoch(self, callback):
        seen.append(self.done)
        if len(seen) == 2:
            real(self, callback)  # goes on to change the weights, and is then interrupted
            return None
        return real(self, callback)

    monkeypatch.setattr(herded.ner.crf.adagrad_training.CRFTrainer, "epoch", epoch)
    with pytest.raises(KeyboardInterrupt) as caught:
        CRF(bits=9, epochs=3).fit(sample[:5])
    crf = caught.value.result
    assert same_chain(crf.chain_, alone.chain_) and len(crf.history_) == 1
    monkeypatch.setattr(
        herded.ner.crf.adagrad_training.CRFTrainer, "epoch", lambda self, callback: None
    )
    with pytest.raises(KeyboardInterrupt):
        CRF(bits=9).fit(sample[:5])


@examples(40)
@given(st.lists(st.lists(st.text(characters, max_size=5), max_size=5), max_size=4))
def test_any_words_at_all(fitted, sentences):
    guess = fitted.predict(sentences)
    assert [len(labels) for labels in guess] == [len(sentence) for sentence in sentences]
    assert [fitted.predict([sentence])[0] for sentence in sentences] == guess
    for p in fitted.predict_marginals(sentences):
        assert np.isfinite(p).all()
