"""Texts as a recogniser sees them: documents of sentences of words, with labels where known."""

from dataclasses import dataclass

from herded.errors import CorpusError


@dataclass(frozen=True)
class Sentence:
    """Words in order; per word a label ("O", "PERSON" or "B-PERSON") and where it starts."""

    words: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    starts: tuple[int, ...] | None = None  # character offsets in the document's text

    def __post_init__(self) -> None:
        for name in ("labels", "starts"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.words):
                raise CorpusError(
                    f"expected one of the {name} for each of {len(self.words)} words, "
                    f"got {len(values)}"
                )


@dataclass(frozen=True)
class Document:
    """Sentences that belong together, and the text they were split from, if there is one."""

    name: str
    sentences: tuple[Sentence, ...]
    text: str | None = None

    @property
    def n_words(self) -> int:
        """Words in all sentences."""
        return sum(len(sentence.words) for sentence in self.sentences)
