"""A recogniser that needs no model, for tests of what is around one."""

from dataclasses import dataclass

from herded.cli.commands import ner as command
from herded.cli.main import main
from herded.ner.text.corpus import document_of
from herded.ner.text.labels import spans

KNOWN = {"Tim": "PERSON", "Roth": "PERSON", "Amsterdam": "LOCATION", "BBC": "ORGANIZATION"}


@dataclass(frozen=True)
class Entity:
    start: int
    end: int
    kind: str
    text: str
    probability: float


class FakeRecogniser:
    """Knows four words, remembers how it was asked."""

    kinds = ("PERSON", "ORGANIZATION", "LOCATION")

    def __init__(self):
        self.calls = []

    def tag(self, text, **decoding):
        self.calls.append((text, decoding))
        found = []
        document = document_of(text)
        for sentence, labels in zip(document.sentences, self.labels(document), strict=True):
            for first, last, kind in spans(labels):
                start = sentence.starts[first]
                end = sentence.starts[last - 1] + len(sentence.words[last - 1])
                found.append(Entity(start, end, kind, text[start:end], 0.75))
        return found

    def tag_documents(self, documents, **decoding):
        for document in documents:
            self.calls.append((document.name, decoding))
            yield self.labels(document)

    def labels(self, document):
        return [tuple(KNOWN.get(w, "O") for w in each.words) for each in document.sentences]


def installed(monkeypatch):
    """Let `herded ner` load a fake one, which is given back."""
    fake = FakeRecogniser()

    def load(path=None):
        fake.path = path
        return fake

    monkeypatch.setattr(command, "load", load)
    return fake


def said(capsys, *arguments):
    """What is printed when all is well."""
    code = main(["ner", *arguments])
    out, err = capsys.readouterr()
    assert (code, err) == (0, ""), err
    return out


def fails(capsys, *arguments, codes=(1, 3)):
    """The one sentence that is said on stderr."""
    assert main(["ner", *arguments]) in codes
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(("herded: expected ", "herded: could not "))
    assert err.count("\n") == 1 and "Traceback" not in err
    return err
