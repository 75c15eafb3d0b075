"""Rules for skip edges: which words of a document are likely to have the same label.

Sutton and McCallum (2004) link identical capitalised words, and so do these rules. A rule is a
function from a batch to `MentionLinks`; a new one goes into `LINK_RULES`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from herded.ner.crf.encoded_batch import Batch, same_words
from herded.ner.text.word_atoms import KIND_ATOM, UPPER_CASE, WORD_ATOM


class MentionLinks(NamedTuple):
    """Pairs of words, and the strength of each tie."""

    edges: np.ndarray  # (E, 2) first < second, sorted by the first
    strengths: np.ndarray  # (E,)


def next_mention(batch: Batch) -> MentionLinks:
    """Link a name and its next mention in the document: at most two links per word."""
    edges = _mentions(batch, 1)
    return MentionLinks(edges, np.ones(len(edges)))


def all_mentions(batch: Batch, most: int = 10) -> MentionLinks:
    """Link a name and its next ten mentions, with weaker ties for words with many links.

    Otherwise the ties of a frequent name would outweigh the evidence of the sentences.
    """
    edges = _mentions(batch, most)
    degree = np.bincount(edges.ravel(), minlength=len(batch.types))
    return MentionLinks(edges, 2.0 / degree[edges].sum(axis=1))


LINK_RULES: dict[str, Callable[[Batch], MentionLinks]] = {"next": next_mention, "all": all_mentions}


def _mentions(batch: Batch, most: int) -> np.ndarray:
    """Return pairs of equal capitalised words with fewer than `most` others between them."""
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
    """Return which words are capitalised and never in small letters in their document."""
    found: np.ndarray = (batch.atoms[batch.types, KIND_ATOM] == UPPER_CASE) & (
        batch.small_mentions == 0
    )
    return found
