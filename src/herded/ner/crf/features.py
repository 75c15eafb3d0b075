"""Hashed features of a word in its sentence: feature = hash(template, atoms it looks at).

A template is a few (offset, atom) pairs. Only the row of weights that a feature's hash names is
stored, so a model needs no dictionary, and compiled code recomputes features faster than it could
read them from memory.
"""

import numpy as np

from herded.ner.text.word_atoms import (
    ATOMS,
    HEAD_ATOM,
    LOWER_ATOM,
    PADDING_AFTER,
    PADDING_BEFORE,
    SHAPE_ATOM,
    SHORT_SHAPE_ATOM,
    TAIL_ATOM,
    WORD_ATOM,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import GOLDEN_RATIO_64

MAX_FEATURE_PAIRS = 3
REPEAT_ATOM, CASE_ATOM, LISTED_ATOM = range(len(ATOMS), len(ATOMS) + 3)  # atoms of a word's place
FOLD_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
NO_COLUMN = np.uint64(0xFFFF)
_32 = np.uint64(32)


def _templates() -> list[tuple[int, list[tuple[int, int]]]]:
    """Return (name, pairs) of all templates; those of one name are one feature at any place."""
    pairs: list[list[tuple[int, int]]] = [
        [(0, WORD_ATOM)],
        [(0, SHAPE_ATOM)],
        [(0, SHORT_SHAPE_ATOM)],
    ]
    pairs += [[(at, LOWER_ATOM)] for at in (-2, -1, 0, 1, 2)]
    pairs += [[(at, SHAPE_ATOM)] for at in (-2, -1, 1, 2)]
    pairs += [[(0, HEAD_ATOM + k)] for k in range(4)] + [[(0, TAIL_ATOM + k)] for k in range(4)]
    pairs += [[(at, TAIL_ATOM + 2)] for at in (-1, 1)] + [[(at, HEAD_ATOM + 3)] for at in (-1, 1)]
    pairs += [
        [(-1, LOWER_ATOM), (0, LOWER_ATOM)],
        [(0, LOWER_ATOM), (1, LOWER_ATOM)],
        [(-1, LOWER_ATOM), (1, LOWER_ATOM)],
        [(-2, LOWER_ATOM), (-1, LOWER_ATOM)],
        [(1, LOWER_ATOM), (2, LOWER_ATOM)],
        [(-1, LOWER_ATOM), (0, SHAPE_ATOM)],
        [(0, SHAPE_ATOM), (1, LOWER_ATOM)],
        [(-2, LOWER_ATOM), (-1, LOWER_ATOM), (0, SHORT_SHAPE_ATOM)],
        [(0, SHORT_SHAPE_ATOM), (1, LOWER_ATOM), (2, LOWER_ATOM)],
        [(-1, SHAPE_ATOM), (0, SHAPE_ATOM)],
        [(0, SHAPE_ATOM), (1, SHAPE_ATOM)],
        [(-1, SHAPE_ATOM), (0, SHAPE_ATOM), (1, SHAPE_ATOM)],
        [(-2, SHORT_SHAPE_ATOM), (-1, SHORT_SHAPE_ATOM), (0, SHORT_SHAPE_ATOM)],
        [(0, SHORT_SHAPE_ATOM), (1, SHORT_SHAPE_ATOM), (2, SHORT_SHAPE_ATOM)],
        [(0, LOWER_ATOM), (-1, SHORT_SHAPE_ATOM)],
        [(0, LOWER_ATOM), (1, SHORT_SHAPE_ATOM)],
        [(0, TAIL_ATOM + 2), (0, SHORT_SHAPE_ATOM)],
        [(0, HEAD_ATOM + 2), (0, SHORT_SHAPE_ATOM)],
        [(0, TAIL_ATOM + 2), (1, LOWER_ATOM)],
        [(-1, LOWER_ATOM), (0, TAIL_ATOM + 2)],
        [(0, REPEAT_ATOM)],
        [(0, REPEAT_ATOM), (0, SHAPE_ATOM)],
        [(0, CASE_ATOM), (0, SHAPE_ATOM)],
        [(0, CASE_ATOM), (0, LOWER_ATOM)],
        [(-1, LISTED_ATOM)],
        [(0, LISTED_ATOM)],
        [(1, LISTED_ATOM)],
        [(0, LISTED_ATOM), (0, SHORT_SHAPE_ATOM)],
        [(-1, LISTED_ATOM), (0, LISTED_ATOM)],
        [(0, LISTED_ATOM), (1, LISTED_ATOM)],
        [(-1, LISTED_ATOM), (0, LISTED_ATOM), (1, LISTED_ATOM)],
        [(0, LISTED_ATOM), (-1, LOWER_ATOM)],
        [(0, LISTED_ATOM), (1, LOWER_ATOM)],
    ]
    named = list(enumerate(pairs))
    left, right = len(named), len(named) + 1  # disjunctive words: somewhere within five
    for distance in (1, 2, 3, 4, 5):
        named += [
            (left, [(-distance, LOWER_ATOM), (0, SHORT_SHAPE_ATOM)]),
            (right, [(distance, LOWER_ATOM), (0, SHORT_SHAPE_ATOM)]),
        ]
    return named


def compile_templates() -> tuple[np.ndarray, np.ndarray]:
    """Compile the templates into (salts, pairs) for `feature_rows`; pairs is (templates, 1 + 2 *
    MAX_FEATURE_PAIRS).
    """
    named = _templates()
    table = np.zeros((len(named), 1 + 2 * MAX_FEATURE_PAIRS), np.int64)
    salts = np.empty(len(named), np.uint64)
    for f, (name, pairs) in enumerate(named):
        with np.errstate(over="ignore"):
            salts[f] = GOLDEN_RATIO_64 * np.uint64(name + 1)
        table[f, 0] = len(pairs)
        table[f, 1 : 1 + 2 * len(pairs)] = np.ravel(pairs)
    return salts, table


@jit
def feature_rows(types, atoms, places, salts, table, bits, rows):
    """Compute rows[i, f], the row of weights of feature f of word i in one sentence."""
    n, n_atoms = len(types), atoms.shape[1]
    shift = np.uint64(64 - bits)
    for i in range(n):
        for f in range(len(salts)):
            h = salts[f]
            for k in range(table[f, 0]):
                at, atom = i + table[f, 1 + 2 * k], table[f, 2 + 2 * k]
                if atom >= n_atoms:
                    value = np.uint64(places[at, atom - n_atoms]) if 0 <= at < n else NO_COLUMN
                elif at < 0:
                    value = atoms[PADDING_BEFORE, atom]
                elif at >= n:
                    value = atoms[PADDING_AFTER, atom]
                else:
                    value = atoms[types[at], atom]
                h = (h ^ value) * GOLDEN_RATIO_64
                h ^= h >> _32
            rows[i, f] = (h * FOLD_MULTIPLIER) >> shift
