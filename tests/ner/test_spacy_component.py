"""The spaCy component: on spaCy if it is there, and on a document that is like its."""

import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from herded import MethodError
from herded.ner.spacy_component import EntityComponent
from tests.support.fake_recogniser import FakeRecogniser

WORDS = ["Tim", "\n", "Roth", "met", "the", "BBC", ".", "\n\n", "Amsterdam", "Tim", "sang", "."]
ENTITIES = [("Tim \n Roth", "PERSON"), ("BBC", "ORG"), ("Amsterdam", "LOC"), ("Tim", "PERSON")]


@dataclass(frozen=True)
class Token:
    i: int
    idx: int
    text: str

    @property
    def is_space(self):
        return self.text.isspace()


@dataclass
class Span:
    tokens: list
    start: int
    end: int
    label_: str = ""

    @property
    def text(self):
        return " ".join(token.text for token in self.tokens)


@dataclass
class Doc:
    """As much of spaCy's as the component needs; a blank between words, sentences if given."""

    words: list
    ends: list = field(default_factory=list)
    ents: list = field(default_factory=list)

    def __post_init__(self):
        self.text = " ".join(self.words)
        self.tokens = []
        at = 0
        for i, word in enumerate(self.words):
            self.tokens.append(Token(i, at, word))
            at += len(word) + 1

    def __iter__(self):
        return iter(self.tokens)

    def __getitem__(self, part):
        return Span(self.tokens[part], part.start, part.stop)

    def has_annotation(self, name):
        assert name == "SENT_START"
        return bool(self.ends)

    @property
    def sents(self):
        return [self.tokens[a:b] for a, b in pairwise([0, *self.ends])]


class Listening(FakeRecogniser):
    """Keeps the documents it was given."""

    def tag_documents(self, documents, **decoding):
        self.heard = list(documents)
        return super().tag_documents(self.heard, **decoding)


def found(doc):
    return [(entity.text, entity.label_) for entity in sorted(doc.ents, key=lambda e: e.start)]


# Without spaCy


def test_the_entities_of_a_document():
    recogniser = Listening()
    doc = Doc(WORDS)
    assert EntityComponent(recogniser)(doc) is doc
    assert found(doc) == ENTITIES
    (document,) = recogniser.heard
    assert [sentence.words for sentence in document.sentences] == [
        ("Tim", "Roth", "met", "the", "BBC", "."),
        ("Amsterdam", "Tim", "sang", "."),
    ]
    for sentence in document.sentences:
        for word, start in zip(sentence.words, sentence.starts, strict=True):
            assert document.text[start : start + len(word)] == word


def test_sentences_of_the_pipeline_are_kept():
    recogniser = Listening()
    doc = EntityComponent(recogniser)(Doc(WORDS, ends=[2, len(WORDS)]))
    assert [len(sentence.words) for sentence in recogniser.heard[0].sentences] == [1, 9]
    assert found(doc)[:2] == [("Tim", "PERSON"), ("Roth", "PERSON")]


def test_options_are_passed_on():
    recogniser = Listening()
    EntityComponent(recogniser, decoder="herded", skip=True, sweeps=9)(Doc(WORDS))
    assert recogniser.calls[0][1] == {"decoder": "herded", "skip": True, "sweeps": 9}


def test_names_of_labels():
    assert EntityComponent(FakeRecogniser()).labels == ("PERSON", "ORG", "LOC")
    ours = EntityComponent(FakeRecogniser(), labels="herded")
    assert ours.labels == ("PERSON", "ORGANIZATION", "LOCATION")
    assert found(ours(Doc(WORDS)))[1] == ("BBC", "ORGANIZATION")
    with pytest.raises(MethodError, match='expected labels "spacy" or "herded"'):
        EntityComponent(FakeRecogniser(), labels="both")


def test_entities_that_are_there_stay_unless_told_otherwise():
    earlier = Doc(WORDS)[0:1]
    earlier.label_ = "CAT"
    doc = EntityComponent(FakeRecogniser())(Doc(WORDS, ents=[earlier]))
    assert found(doc) == [("Tim", "CAT"), *ENTITIES[1:]]
    doc = EntityComponent(FakeRecogniser(), overwrite=True)(Doc(WORDS, ents=[earlier]))
    assert found(doc) == ENTITIES


@pytest.mark.parametrize("words", [[], ["\n"], [" ", "\t"]])
def test_a_document_without_words(words):
    assert found(EntityComponent(FakeRecogniser())(Doc(words))) == []


@pytest.mark.parametrize("batch_size", [1, 2, 128])
def test_many_documents(batch_size):
    recogniser = FakeRecogniser()
    stream = (Doc(words) for words in [WORDS, [], ["Tim"], WORDS, ["BBC"]])
    docs = list(EntityComponent(recogniser).pipe(stream, batch_size=batch_size))
    assert [found(doc) for doc in docs] == [
        ENTITIES,
        [],
        [("Tim", "PERSON")],
        ENTITIES,
        [("BBC", "ORG")],
    ]


def test_documents_are_not_read_ahead_of_a_batch():
    taken = []
    stream = (taken.append(i) or Doc(["Tim"]) for i in range(10))
    next(EntityComponent(FakeRecogniser()).pipe(stream, batch_size=3))
    assert taken == [0, 1, 2]


def test_the_module_needs_no_spacy():
    program = "import sys; sys.modules['spacy'] = None; import herded.ner.spacy_component"
    left = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert left.returncode == 0, left.stderr


# With spaCy


@pytest.fixture
def spacy(monkeypatch):
    library = pytest.importorskip("spacy", reason="needs spaCy")
    from herded.ner import recogniser

    monkeypatch.setattr(recogniser, "load", lambda path=None: FakeRecogniser())
    return library


def pipeline(spacy, *before, **config):
    nlp = spacy.blank("en")
    for name in before:
        nlp.add_pipe(name)
    nlp.add_pipe("herded_ner", config=config)
    return nlp


def test_spacy_finds_the_component_by_itself(spacy):
    program = "import spacy; assert spacy.blank('en').has_factory('herded_ner')"
    left = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert left.returncode == 0, left.stderr


@pytest.mark.parametrize("before", [[], ["sentencizer"]])
def test_a_pipeline(spacy, before):
    nlp = pipeline(spacy, *before)
    doc = nlp("Tim  Roth met the BBC.\n\nAmsterdam was what Tim saw 😀.")
    assert [(entity.text, entity.label_) for entity in doc.ents] == [
        ("Tim  Roth", "PERSON"),
        ("BBC", "ORG"),
        ("Amsterdam", "LOC"),
        ("Tim", "PERSON"),
    ]
    assert nlp.pipe_labels["herded_ner"] == ["PERSON", "ORG", "LOC"]
    for text in ("", " ", "\n\n", "\0"):
        assert nlp(text).ents == ()


def test_a_pipeline_of_many_texts(spacy):
    nlp = pipeline(spacy, labels="herded")
    docs = nlp.pipe(["Tim", "", "the BBC"] * 100, batch_size=7)
    assert [[entity.label_ for entity in doc.ents] for doc in docs] == [
        ["PERSON"],
        [],
        ["ORGANIZATION"],
    ] * 100


def test_a_pipeline_with_a_ruler(spacy):
    for overwrite, expected in [(False, ["Tim"]), (True, ["Tim Roth"])]:
        nlp = pipeline(spacy, "entity_ruler", overwrite=overwrite)
        nlp.get_pipe("entity_ruler").add_patterns([{"label": "CAT", "pattern": "Tim"}])
        assert [entity.text for entity in nlp("Tim Roth ran.").ents] == expected


def test_a_pipeline_on_disk(spacy, tmp_path):
    pipeline(spacy, decoder="icm").to_disk(tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline")
    assert [entity.text for entity in nlp("the BBC").ents] == ["BBC"]
    assert nlp.get_pipe("herded_ner").decoding["decoder"] == "icm"


def test_wrong_options_of_a_pipeline(spacy):
    with pytest.raises(MethodError, match="expected labels"):
        pipeline(spacy, labels="both")
    with pytest.raises(ValueError, match="sweeps"):
        pipeline(spacy, sweeps="many")
