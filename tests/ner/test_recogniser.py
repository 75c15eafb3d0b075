"""Names in text: the bundled model, any text at all, batches, and the recipe."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded.ner
import herded.ner.recogniser
from herded.errors import CorpusError, HerdedError, MethodError
from herded.ner import DECODERS, Document, Recogniser, Sentence, document_of, load, read_conll
from herded.ner.crf.chain_weights import ChainWeights, first_transitions
from herded.ner.crf.encoded_batch import encode
from herded.ner.crf.skip_chain import TieWeights
from herded.ner.text.labels import spans, to_bio
from herded.ner.text.word_atoms import Vocabulary
from herded.ner.training import train_and_save
from tests.conformance.twins.learning.recogniser import labelling_score, labellings
from tests.support.example_budget import examples
from tests.support.timeouts import ending

DATA = Path(herded.ner.__file__).parent / "data"
BIO = ("O", "B-A", "I-A", "B-C", "I-C")
characters = st.one_of(
    st.characters(exclude_categories=()),
    st.sampled_from("aB .,\n'\x00\x1b\ud800\udc00\u200d\u202e🙂🇫🇷"),
)
texts = st.text(characters, max_size=40)


@pytest.fixture(scope="module")
def english():
    return load()


@pytest.fixture(scope="module")
def sample():
    return list(read_conll(DATA / "sample.conll"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model of the recipe, and what was said of its training."""
    path = tmp_path_factory.mktemp("recipe") / "small.npz"
    facts = train_and_save([DATA / "sample.conll"], out=path, bits=12, epochs=3, scheme="bio")
    return load(path), facts, path


def random_recogniser(seed=0, labels=BIO):
    """A model without sense: names are everywhere."""
    rng = np.random.default_rng(seed)
    weights = (0.3 * rng.normal(size=(256, len(labels)))).astype(np.float32)
    transitions = first_transitions(labels) + 0.5 * rng.normal(size=(len(labels) + 1, len(labels)))
    chain = ChainWeights(labels, weights, transitions)
    table = rng.normal(size=(1 + len(chain.kinds),) * 2)
    return Recogniser(chain, TieWeights(table + table.T, 0.8))


def check(text, entities):
    for entity in entities:
        assert text[entity.start : entity.end] == entity.text and entity.text
        assert 0 < entity.probability <= 1 + 1e-12
    assert all(a.end <= b.start for a, b in itertools.pairwise(entities))


def test_the_bundled_model(english):
    assert (DATA / "english.npz").stat().st_size <= 5 * 2**20
    assert english.kinds == ("LOCATION", "ORGANIZATION", "PERSON")
    assert english.ties is not None and {"sources", "words", "history"} <= english.card.keys()
    text = "Maria Gonzalez flew from Paris to Lagos.\nShe works for Microsoft in Seattle."
    found = english.tag(text)
    check(text, found)
    assert [(entity.text, entity.kind) for entity in found] == [
        ("Maria Gonzalez", "PERSON"), ("Paris", "LOCATION"), ("Lagos", "LOCATION"),
        ("Microsoft", "ORGANIZATION"), ("Seattle", "LOCATION"),
    ]  # fmt: skip
    assert min(entity.probability for entity in found) > 0.5
    assert english.tag("it rained all day , and nobody came .") == []
    skip = english.tag(text, skip=True)
    check(text, skip)
    assert {entity.text for entity in skip} >= {"Maria Gonzalez", "Paris"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\x00\x1b[31mParis\x07",
        "🙂🇫🇷👩‍👩‍👧 Paris 🙂",
        "\ud800Paris\udfff",
        "a" * 50_000,
        "İstanbul ŉ ẞ",
    ],
)
def test_strange_texts_do_no_harm(english, text):
    check(text, english.tag(text))
    check(text, english.tag(text, skip=True, decoder="viterbi"))


def test_a_sentence_of_ten_thousand_words(english):
    words = ["Maria Gonzalez of Paris met Ban"] * 1700
    english.tag("Maria of Paris")  # compiles
    with ending():  # each name looks at its own words only
        found = english.tag(" ".join(words))
    check(" ".join(words), found)
    assert len(found) >= 1700
    assert len(document_of(" ".join(words)).sentences) == 1


@examples(40)
@given(texts, st.integers(0, 5))
def test_offsets_are_those_of_the_text(text, seed):
    check(text, random_recogniser(seed).tag(text))


@examples(25)
@given(st.lists(texts, min_size=1, max_size=5), st.integers(0, 3), st.sampled_from([1, 4, 10**6]))
def test_documents_are_tagged_alike_in_any_company(texts, seed, most):
    documents = [document_of(text) for text in texts]
    recogniser = random_recogniser(seed)
    alone = [next(iter(random_recogniser(seed).find([document]))) for document in documents]
    labels = [next(iter(recogniser.tag_documents([document]))) for document in documents]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(herded.ner.recogniser, "WORDS_PER_BATCH", most)
        recogniser._vocabulary.limit = most  # forgets in between
        assert list(recogniser.find(documents)) == alone
        assert list(recogniser.tag_documents(documents)) == labels
        skip = {"skip": True, "decoder": "viterbi"}
        together = list(recogniser.tag_documents(documents, **skip))
    assert together == [next(recogniser.tag_documents([each], **skip)) for each in documents]


def test_so_they_are_by_every_decoder(sample):
    recogniser = random_recogniser(1, ("O", "A", "C"))
    for decoder, skip in itertools.product(DECODERS, (False, True)):
        options = {"decoder": decoder, "skip": skip, "sweeps": 5}
        together = list(recogniser.tag_documents(sample[:3], **options))
        alone = [next(recogniser.tag_documents([each], **options)) for each in sample[:3]]
        assert together == alone, (decoder, skip)
        again = list(recogniser.tag_documents(sample[:3], **options, seed=0))
        assert together == again


def test_probabilities_are_those_of_all_labellings():
    recogniser = random_recogniser(2)
    text = "Ann saw Bo. Cy ran."
    found = recogniser.tag(text)
    assert found
    document = document_of(text)
    chain, trust = recogniser.chain, recogniser.ties.trust
    batch = encode([[part.words for part in document.sentences]], Vocabulary(), None)
    scores = trust * chain.scores(batch)
    labels = chain.best(scores, batch.starts)
    wanted = []
    for a, b in itertools.pairwise(batch.starts):
        listed = list(labellings(scores[a:b]))
        values = [labelling_score(scores[a:b], trust * chain.transitions, y) for y in listed]
        chances = np.exp(np.array(values) - np.logaddexp.reduce(values))
        own = labels[a:b].tolist()
        for first, last, _ in spans([chain.labels[k] for k in own]):
            agree = [list(y[first:last]) == own[first:last] for y in listed]
            wanted.append(chances[agree].sum())
    assert [entity.probability for entity in found] == pytest.approx(wanted, rel=1e-10)


def test_find_and_tag_documents_agree(made, sample):
    recogniser = made[0]
    text = "Ms. Aino Virtanen left Nairobi. The Tana River rose, the Meridian Press said."
    document = document_of(text)
    labels = next(recogniser.tag_documents([document]))
    names = [
        (part.starts[first], kind)
        for part, own in zip(document.sentences, labels, strict=True)
        for first, _, kind in spans(own)
    ]
    assert [(entity.start, entity.kind) for entity in recogniser.tag(text)] == names and names
    assert all(list(own) == to_bio(own) for own in labels)
    assert list(recogniser.tag_documents([])) == list(recogniser.find(iter(()))) == []
    with pytest.raises(CorpusError, match="got only words: use tag_documents"):
        list(recogniser.find(sample[:1]))


def test_what_is_no_text_and_no_decoder(english):
    for bad in (None, 3, b"Paris", ["Paris"]):
        with pytest.raises(CorpusError, match="expected a text, got"):
            english.tag(bad)
    for bad in ("Paris", 3, document_of("Paris"), [["Paris"]]):
        with pytest.raises(CorpusError, match="expected documents, got"):
            list(english.tag_documents(bad))
    strange = Document("d", (Sentence((3,)),))
    with pytest.raises(CorpusError, match="expected words as strings, got 3"):
        list(english.tag_documents([strange]))
    with pytest.raises(MethodError, match="expected a decoder of"):
        english.tag("Paris", decoder="beam")
    with pytest.raises(HerdedError, match="sweeps"):
        english.tag("Paris", decoder="gibbs", sweeps=-1)
    with pytest.raises(HerdedError, match="seed"):
        english.tag("Paris", decoder="gibbs", seed=-1)
    with pytest.raises(CorpusError, match="expected a model with ties"):
        Recogniser(english.chain).tag("Paris", skip=True)


def test_the_recipe_from_end_to_end(made, sample):
    recogniser, facts, path = made
    assert facts["bytes"] == path.stat().st_size and facts["corpora"] == ["sample.conll"]
    assert facts["words"] == sum(document.n_words for document in sample)
    assert len(facts["history"]) == 3 and facts["labels"] == recogniser.chain.labels
    assert facts["trust"] == recogniser.ties.trust and len(facts["ties"]) == 4
    assert recogniser.chain.weights.dtype == np.int8 and recogniser.card["history"]
    truth = [part.labels for document in sample for part in document.sentences]
    guess = [own for labels in recogniser.tag_documents(sample) for own in labels]
    assert herded.ner.score(truth, guess).f1 > 0.9
    text = "Ms. Aino Virtanen left Nairobi on Monday."
    check(text, recogniser.tag(text, skip=True, decoder="viterbi"))


def test_the_recipe_with_few_documents_and_a_development_set(tmp_path):
    few = tmp_path / "few.conll"
    few.write_text("Rex\tB-ANIMAL\nbarks\tO\n\nTom\tB-ANIMAL\nsleeps\tO\n")
    out = tmp_path / "m.npz"
    facts = train_and_save([few, few], out=out, dev=few, bits=8, epochs=5)
    assert facts["trust"] is None and load(out).ties is None and load(out).kinds == ("ANIMAL",)
    assert facts["history"][-1].keys() == {"loss", "f1"}
    before = out.read_bytes()
    facts = train_and_save([few, few], out=out, dev=few, bits=8, epochs=5)
    assert out.read_bytes() == before  # the same arguments give the same bytes
    plain = tmp_path / "plain.txt"
    plain.write_text("Rex barks.")
    with pytest.raises(CorpusError, match=r"expected labelled words in .*, got plain text"):
        train_and_save([few, plain], out=out)
    with pytest.raises(CorpusError, match="could not write"):
        train_and_save([few], out=tmp_path / "nowhere" / "m.npz")
    assert out.read_bytes() == before and len(list(tmp_path.iterdir())) == 3
