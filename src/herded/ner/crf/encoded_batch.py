"""Documents as arrays, for the compiled parts of the recogniser."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herded.ner.text.lexicon import Lexicon
from herded.ner.text.word_atoms import (
    CAPITALISED,
    CAPITALS,
    LOWER_ATOM,
    SHORT_SHAPE_ATOM,
    SMALL_LETTERS,
    Vocabulary,
)
from herded.system.numerics.counter_rng import GOLDEN_RATIO_64

Words = Sequence[str]  # the words of one sentence

_MAX_COUNTED_MENTIONS = 2  # a place counts other mentions up to two


@dataclass(frozen=True)
class Batch:
    """The words of several documents, end to end."""

    types: np.ndarray  # (N,) the type of each word
    atoms: np.ndarray  # (types, atoms)
    starts: np.ndarray  # (S + 1,) where sentences begin
    documents: np.ndarray  # (D + 1,) which sentences begin documents
    places: np.ndarray  # (N, 3) facts from a word's document, its sentence and the lists
    small_mentions: np.ndarray  # (N,) how often its document has the word in small letters


def encode(
    documents: Sequence[Sequence[Words]], vocabulary: Vocabulary, lexicon: Lexicon | None
) -> Batch:
    """Encode documents given as sentences of words; empty sentences are kept."""
    sentences = [sentence for document in documents for sentence in document]
    n_words = sum(map(len, sentences))
    batch = Batch(
        types=vocabulary.encode([word for sentence in sentences for word in sentence]),
        atoms=vocabulary.atoms,
        starts=_cumulate([len(sentence) for sentence in sentences]),
        documents=_cumulate([len(document) for document in documents]),
        places=np.zeros((n_words, 3), np.uint64),
        small_mentions=np.zeros(n_words),
    )
    if n_words:
        batch.small_mentions[:], batch.places[:, 0] = _repeats(batch)
        batch.places[:, 1] = _cases(batch)
        if lexicon is not None:
            batch.places[:, 2] = lexicon.look_up(batch.types, batch.starts, batch.atoms)
    return batch


def same_words(batch: Batch, atom: int) -> np.ndarray:
    """Number the words (N,) so that those of one document with the same atom share a number."""
    owner = _owners(batch.starts[batch.documents]).astype(np.uint64)
    keys = batch.atoms[batch.types, atom] ^ owner * GOLDEN_RATIO_64
    return np.unique(keys, return_inverse=True)[1]


def _cumulate(lengths: list[int]) -> np.ndarray:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _owners(starts: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _repeats(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Count each word in small letters in its document; number the capitalised words.

    "Bush" at the start of a sentence may be a plant. If "Bush" also occurs within a sentence, it is
    a name; if "bush" occurs, it is not.
    """
    short = batch.atoms[batch.types, SHORT_SHAPE_ATOM]
    capitalised, capitals = short == CAPITALISED, short == CAPITALS
    first = np.zeros(len(short) + 1, bool)
    first[batch.starts] = True
    same = same_words(batch, LOWER_ATOM)
    small = np.bincount(same, short == SMALL_LETTERS)[same]
    within = capitalised & ~first[:-1]
    elsewhere = np.bincount(same, within)[same] - within
    code = (
        np.minimum(small, _MAX_COUNTED_MENTIONS)
        + 3 * np.minimum(elsewhere, _MAX_COUNTED_MENTIONS)
        + 9 * first[:-1]
    )
    return small, np.where(capitalised | capitals, 1 + code + 18 * capitals, 0)


def _cases(batch: Batch) -> np.ndarray:
    """Classify each word's sentence: a headline in capitals, none at all, many, or as usual."""
    short, owner, n = (
        batch.atoms[batch.types, SHORT_SHAPE_ATOM],
        _owners(batch.starts),
        len(batch.starts) - 1,
    )
    small = np.bincount(owner, short == SMALL_LETTERS, n)
    large = np.bincount(owner, (short == CAPITALISED) | (short == CAPITALS), n)
    found: np.ndarray = np.select([small == 0, large == 0, large > small], [0, 1, 2], 3)[owner]
    return found
