"""Texts for a recogniser: documents of sentences of words, with labels if known."""

from dataclasses import dataclass

from herded.errors import CorpusError


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, with their labels and positions if known.

    Parameters
    ----------
    words : tuple of str
    labels : tuple of str, optional
        For each word "O", a kind such as "PERSON", or one with a prefix such as "B-PERSON".
    starts : tuple of int, optional
        The position of each word in the document's text, in characters.

    Raises
    ------
    CorpusError
        If the numbers of labels, starts and words differ.

    Examples
    --------
    >>> sentence = hd.ner.Sentence(("Tim", "Roth", "laughed"), ("PERSON", "PERSON", "O"))
    >>> hd.ner.spans(sentence.labels)
    [(0, 2, 'PERSON')]
    """

    words: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    starts: tuple[int, ...] | None = None  # character offsets in the document's text

    def __post_init__(self) -> None:
        for name, values in (("labels", self.labels), ("starts", self.starts)):
            if values is not None and len(values) != len(self.words):
                raise CorpusError(
                    f"expected {len(self.words)} {name}, one for each word, got {len(values)}"
                )


@dataclass(frozen=True)
class Document:
    """Sentences that belong together, and the text they come from, if there is one.

    Parameters
    ----------
    name : str
    sentences : tuple of Sentence
    text : str, optional

    Examples
    --------
    >>> document = hd.ner.document_of("Tim Roth laughed. He left.", name="story")
    >>> len(document.sentences), document.n_words
    (2, 7)
    """

    name: str
    sentences: tuple[Sentence, ...]
    text: str | None = None

    @property
    def n_words(self) -> int:
        """The number of words in all sentences."""
        return sum(len(sentence.words) for sentence in self.sentences)
