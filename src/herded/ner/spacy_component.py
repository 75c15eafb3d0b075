"""The recogniser as a component of a spaCy pipeline: `nlp.add_pipe("herded_ner")`.

spaCy finds this module through the entry point `spacy_factories`. Words are spaCy's tokens, and so
are sentences if the pipeline has set them; otherwise our rules split the text.
"""

import contextlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from herded.errors import MethodError
from herded.ner.text.documents import Document, Sentence
from herded.ner.text.labels import spans
from herded.ner.text.tokenizer import sentences

if TYPE_CHECKING:
    from herded.ner.recogniser import Recogniser

LABELS: dict[str, dict[str, str]] = {
    "spacy": {"PERSON": "PERSON", "ORGANIZATION": "ORG", "LOCATION": "LOC"},
    "herded": {},
}  # by the component's option: the names of kinds in `doc.ents`


class EntityComponent:
    """A component that sets `doc.ents`. Existing entities stay, unless it may `overwrite` them."""

    def __init__(
        self,
        recogniser: "Recogniser",
        *,
        decoder: str | None = None,
        skip: bool = False,
        sweeps: int = 400,
        labels: str = "spacy",
        overwrite: bool = False,
    ) -> None:
        if labels not in LABELS:
            raise MethodError(f'expected labels "spacy" or "herded", got {labels!r}')
        self.recogniser = recogniser
        self.decoding: dict[str, Any] = {"decoder": decoder, "skip": skip, "sweeps": sweeps}
        self.names = LABELS[labels]
        self.overwrite = overwrite

    @property
    def labels(self) -> tuple[str, ...]:
        """The possible values of `ent.label_`."""
        return tuple(self.names.get(kind, kind) for kind in self.recogniser.kinds)

    def __call__(self, doc: Any) -> Any:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Yield documents with their entities set, `batch_size` at a time."""
        rest = iter(stream)
        while docs := list(islice(rest, batch_size)):
            tokens = [_sentences(doc) for doc in docs]
            documents = map(_document, docs, tokens)
            found = self.recogniser.tag_documents(documents, **self.decoding)
            for doc, parts, labels in zip(docs, tokens, found, strict=True):
                self._set(doc, parts, labels)
                yield doc

    def _set(self, doc: Any, parts: list[list[Any]], labels: list[tuple[str, ...]]) -> None:
        kept = [] if self.overwrite else list(doc.ents)
        taken = {at for entity in kept for at in range(entity.start, entity.end)}
        for part, names in zip(parts, labels, strict=True):
            for first, last, kind in spans(names):
                entity = doc[part[first].i : part[last - 1].i + 1]
                if taken.isdisjoint(range(entity.start, entity.end)):
                    entity.label_ = self.names.get(kind, kind)
                    kept.append(entity)
        doc.ents = kept


def _sentences(doc: Any) -> list[list[Any]]:
    """Return the tokens of each sentence, without blanks."""
    if doc.has_annotation("SENT_START"):
        parts = [list(sentence) for sentence in doc.sents]
    else:
        starts = [part[0][0] for part in sentences(doc.text)]
        parts = [[] for _ in range(len(starts) + 1)]
        for token in doc:
            parts[bisect_right(starts, token.idx)].append(token)
    words = [[token for token in part if not token.is_space] for part in parts]
    return [part for part in words if part]


def _document(doc: Any, parts: list[list[Any]]) -> Document:
    found = [
        Sentence(tuple(token.text for token in part), starts=tuple(token.idx for token in part))
        for part in parts
    ]
    return Document("doc", tuple(found), doc.text)


def make_component(
    nlp: Any,
    name: str,
    model: str | None,
    decoder: str | None,
    skip: bool,
    sweeps: int,
    labels: str,
    overwrite: bool,
) -> EntityComponent:
    """Create the component for `nlp.add_pipe("herded_ner", config={...})`."""
    from herded.ner.recogniser import load

    return EntityComponent(
        load(model),
        decoder=decoder,
        skip=skip,
        sweeps=sweeps,
        labels=labels,
        overwrite=overwrite,
    )


with contextlib.suppress(ModuleNotFoundError):  # the component itself needs no spaCy
    from spacy.language import Language

    Language.factory(
        "herded_ner",
        func=make_component,
        assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
        default_config={
            "model": None,
            "decoder": None,
            "skip": False,
            "sweeps": 400,
            "labels": "spacy",
            "overwrite": False,
        },
    )
