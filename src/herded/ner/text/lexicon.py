"""Lists of names, as hashes: the kinds of names that a word or a phrase may be.

A phrase is hashed from its words in lower case, and only 31 bits of the hash are kept. So the lists
cannot be read back from a model, and with 50,000 names about one word in 10,000 matches falsely.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from herded.errors import CorpusError
from herded.ner.text.word_atoms import FNV_OFFSET, FNV_PRIME, LOWER_ATOM, Vocabulary
from herded.system.compilation.jit import jit

MAX_PHRASE_WORDS = 4
MAX_LISTS = 8
# combinations of a word's position in a phrase and the bits of the lists
SINGLE_WORD_PHRASE, PHRASE_START, PHRASE_CONTINUATION = 1, 1 << 8, 1 << 16
_1, _32 = np.uint64(1), np.uint64(32)


class Lexicon:
    """At most eight lists of names, which tell a `CRF` the known kinds of words and phrases.

    Names are kept as 31-bit hashes of their lower case, so that the lists cannot be read back from
    a model. Use `Lexicon.from_lists`; the constructor takes the arrays of a file.

    Parameters
    ----------
    keys : ndarray of uint32
        The hash of each name.
    kinds : ndarray of uint8
        Bit l is set if the name is in list l.

    Examples
    --------
    >>> lexicon = hd.ner.Lexicon.from_lists([["Tim", "Amanda"], ["Amsterdam", "New York"]])
    >>> len(lexicon.keys)
    4
    """

    def __init__(self, keys: np.ndarray, kinds: np.ndarray) -> None:
        self.keys, self.kinds = keys, kinds  # as in a file: one entry for each phrase
        slots = 1 << max(1, int(2 * len(keys)).bit_length())
        self._table = np.zeros(slots, np.uint32), np.zeros(slots, np.int64)
        insert_keys(keys, kinds, *self._table)

    @classmethod
    def from_lists(cls, lists: Sequence[Iterable[str]]) -> "Lexicon":
        """Build a lexicon from lists of names.

        Parameters
        ----------
        lists : sequence of iterables of str
            At most eight lists. Names of more than four words are ignored.

        Returns
        -------
        Lexicon

        Raises
        ------
        CorpusError
            If there are more lists, or a name is not a string.
        """
        if len(lists) > MAX_LISTS:
            raise CorpusError(f"expected at most {MAX_LISTS} lists of names, got {len(lists)}")
        lists = [_names(names) for names in lists]
        pairs = [(name.split(), 1 << at) for at, names in enumerate(lists) for name in names]
        pairs = [(words, kind) for words, kind in pairs if 1 <= len(words) <= MAX_PHRASE_WORDS]
        vocabulary = Vocabulary()
        flat = [word for words, _ in pairs for word in words]
        starts = np.zeros(len(pairs) + 1, np.int64)
        np.cumsum([len(words) for words, _ in pairs], out=starts[1:])
        types = vocabulary.encode(flat)
        keys = phrase_keys(types, starts, vocabulary.atoms)
        unique, at = np.unique(keys, return_inverse=True)
        kinds = np.zeros(len(unique), np.uint8)
        np.bitwise_or.at(kinds, at, np.array([kind for _, kind in pairs], np.uint8))
        return cls(unique, kinds)

    def look_up(self, types: np.ndarray, starts: np.ndarray, atoms: np.ndarray) -> np.ndarray:
        """Return bits for each word: the lists that contain it, alone and within phrases."""
        found = np.zeros(len(types), np.int64)
        mark_phrases(types, starts, atoms, *self._table, found)
        return found


def _names(names: Iterable[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in listed):
        raise CorpusError(f"expected lists of names, got {names!r:.80}")
    return listed


@jit
def phrase_keys(types, starts, atoms):
    """Compute the key of each phrase; never 0, which marks an empty slot."""
    keys = np.empty(len(starts) - 1, np.uint32)
    for p in range(len(keys)):
        h = FNV_OFFSET
        for i in range(starts[p], starts[p + 1]):
            h = _extend(h, atoms[types[i], LOWER_ATOM])
        keys[p] = _key(h)
    return keys


@jit
def insert_keys(keys, kinds, table, table_kinds):
    """Insert every key into an open-addressed table."""
    for p in range(len(keys)):
        at = _slot(table, keys[p])
        table[at] = keys[p]
        table_kinds[at] |= kinds[p]


@jit
def mark_phrases(types, starts, atoms, table, kinds, found):
    """Add to found[i] the lists of word i alone, and of the phrases that contain it."""
    for s in range(len(starts) - 1):
        last = starts[s + 1]
        for i in range(starts[s], last):
            h = FNV_OFFSET
            end = i + MAX_PHRASE_WORDS
            for j in range(i, end if end < last else last):
                h = _extend(h, atoms[types[j], LOWER_ATOM])
                kind = kinds[_slot(table, _key(h))]
                if kind and j == i:
                    found[i] |= kind * SINGLE_WORD_PHRASE
                elif kind:
                    found[i] |= kind * PHRASE_START
                    for k in range(i + 1, j + 1):
                        found[k] |= kind * PHRASE_CONTINUATION


@jit
def _extend(h, atom):
    """Extend the hash of a phrase by a word."""
    h = (h ^ atom) * FNV_PRIME
    return h ^ (h >> _32)


@jit
def _key(h):
    return np.uint32((h >> _32) | _1)


@jit
def _slot(table, key):
    """Return the slot where `key` is, or would be."""
    mask = np.uint32(len(table) - 1)
    at = key & mask
    while table[at] != 0 and table[at] != key:
        at = (at + np.uint32(1)) & mask
    return at
