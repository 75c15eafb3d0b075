"""Which words of a document are likely to have the same label: rules that make skip edges.

Sutton and McCallum (2004) link identical capitalised words; so do these. A rule is a function
from a batch to `MentionLinks`; a new one goes into `LINK_RULES`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from herded.ner.crf.encoded_batch import Batch, same_words
from herded.ner.text.word_atoms import KIND_ATOM, UPPER_CASE, WORD_ATOM


class MentionLinks(NamedTuple):
    """Pairs of words, and how strongly each is tied."""

    edges: np.ndarray  # (E, 2) first < second, by the first
    strengths: np.ndarray  # (E,)


def next_mention(batch: Batch) -> MentionLinks:
    """A name and its next mention in the document: every word has at most two such links."""
    edges = _mentions(batch, 1)
    return MentionLinks(edges, np.ones(len(edges)))


def all_mentions(batch: Batch, most: int = 10) -> MentionLinks:
    """A name and its next ten mentions, each tie weaker the more of them the two words have.

    Unscaled, the ties of a name that is mentioned often would drown what the sentences say.
    """
    edges = _mentions(batch, most)
    degree = np.bincount(edges.ravel(), minlength=len(batch.types))
    return MentionLinks(edges, 2.0 / degree[edges].sum(axis=1))


LINK_RULES: dict[str, Callable[[Batch], MentionLinks]] = {"next": next_mention, "all": all_mentions}


def _mentions(batch: Batch, most: int) -> np.ndarray:
    """Pairs of equal capitalised words that have at most `most` - 1 others between them."""
    names = np.flatnonzero(_may_be_name(batch))
    same = same_words(batch, WORD_ATOM)[names]
    order = np.argsort(same, kind="stable")
    names, same = names[order], same[order]
    pairs = [
        np.stack([names[:-d], names[d:]], axis=1)[same[d:] == same[:-d]]
        for d in range(1, min(most, len(names) - 1) + 1)
    ]
    edges = np.concatenate([np.empty((0, 2), np.int64), *pairs])
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def _may_be_name(batch: Batch) -> np.ndarray:
    """Capitalised words that the document nowhere writes in small letters."""
    found: np.ndarray = (batch.atoms[batch.types, KIND_ATOM] == UPPER_CASE) & (
        batch.small_mentions == 0
    )
    return found
