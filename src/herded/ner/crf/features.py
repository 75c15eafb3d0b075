"""Hashed features of a word in its sentence: feature = hash(template, atoms it looks at).

A template is a few (offset, atom) pairs. Nothing is kept of a feature but the row of weights that
its hash names, so a model needs no dictionary, and features are found again in compiled code
faster than they could be read from memory.
"""

import numpy as np

from herded.ner.text.word_atoms import (
    AFTER,
    ATOMS,
    BEFORE,
    HEAD,
    LOWER,
    SHAPE,
    SHORT,
    TAIL,
    WORD,
)
from herded.system.compilation.jit import jit

MOST_PAIRS = 3
REPEATS, CASE, LISTED = range(len(ATOMS), len(ATOMS) + 3)  # atoms of a word's place
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(0xD6E8FEB86659FD93)
NOWHERE = np.uint64(0xFFFF)
_32 = np.uint64(32)


def _templates() -> list[tuple[int, list[tuple[int, int]]]]:
    """(name, pairs): templates of one name are one feature wherever they look."""
    pairs: list[list[tuple[int, int]]] = [[(0, WORD)], [(0, SHAPE)], [(0, SHORT)]]
    pairs += [[(at, LOWER)] for at in (-2, -1, 0, 1, 2)]
    pairs += [[(at, SHAPE)] for at in (-2, -1, 1, 2)]
    pairs += [[(0, HEAD + k)] for k in range(4)] + [[(0, TAIL + k)] for k in range(4)]
    pairs += [[(at, TAIL + 2)] for at in (-1, 1)] + [[(at, HEAD + 3)] for at in (-1, 1)]
    pairs += [
        [(-1, LOWER), (0, LOWER)],
        [(0, LOWER), (1, LOWER)],
        [(-1, LOWER), (1, LOWER)],
        [(-2, LOWER), (-1, LOWER)],
        [(1, LOWER), (2, LOWER)],
        [(-1, LOWER), (0, SHAPE)],
        [(0, SHAPE), (1, LOWER)],
        [(-2, LOWER), (-1, LOWER), (0, SHORT)],
        [(0, SHORT), (1, LOWER), (2, LOWER)],
        [(-1, SHAPE), (0, SHAPE)],
        [(0, SHAPE), (1, SHAPE)],
        [(-1, SHAPE), (0, SHAPE), (1, SHAPE)],
        [(-2, SHORT), (-1, SHORT), (0, SHORT)],
        [(0, SHORT), (1, SHORT), (2, SHORT)],
        [(0, LOWER), (-1, SHORT)],
        [(0, LOWER), (1, SHORT)],
        [(0, TAIL + 2), (0, SHORT)],
        [(0, HEAD + 2), (0, SHORT)],
        [(0, TAIL + 2), (1, LOWER)],
        [(-1, LOWER), (0, TAIL + 2)],
        [(0, REPEATS)],
        [(0, REPEATS), (0, SHAPE)],
        [(0, CASE), (0, SHAPE)],
        [(0, CASE), (0, LOWER)],
        [(-1, LISTED)],
        [(0, LISTED)],
        [(1, LISTED)],
        [(0, LISTED), (0, SHORT)],
        [(-1, LISTED), (0, LISTED)],
        [(0, LISTED), (1, LISTED)],
        [(-1, LISTED), (0, LISTED), (1, LISTED)],
        [(0, LISTED), (-1, LOWER)],
        [(0, LISTED), (1, LOWER)],
    ]
    named = list(enumerate(pairs))
    left, right = len(named), len(named) + 1  # disjunctive words: somewhere within five
    for distance in (1, 2, 3, 4, 5):
        named += [
            (left, [(-distance, LOWER), (0, SHORT)]),
            (right, [(distance, LOWER), (0, SHORT)]),
        ]
    return named


def compile_templates() -> tuple[np.ndarray, np.ndarray]:
    """(salts, pairs): what `feature_rows` reads; pairs is (templates, 1 + 2 * MOST_PAIRS)."""
    named = _templates()
    table = np.zeros((len(named), 1 + 2 * MOST_PAIRS), np.int64)
    salts = np.empty(len(named), np.uint64)
    for f, (name, pairs) in enumerate(named):
        with np.errstate(over="ignore"):
            salts[f] = GOLDEN * np.uint64(name + 1)
        table[f, 0] = len(pairs)
        table[f, 1 : 1 + 2 * len(pairs)] = np.ravel(pairs)
    return salts, table


@jit
def feature_rows(types, atoms, places, salts, table, bits, rows):
    """rows[i, f] = the row of weights of feature f of word i, for the words of one sentence."""
    n, n_atoms = len(types), atoms.shape[1]
    shift = np.uint64(64 - bits)
    for i in range(n):
        for f in range(len(salts)):
            h = salts[f]
            for k in range(table[f, 0]):
                at, atom = i + table[f, 1 + 2 * k], table[f, 2 + 2 * k]
                if atom >= n_atoms:
                    value = np.uint64(places[at, atom - n_atoms]) if 0 <= at < n else NOWHERE
                elif at < 0:
                    value = atoms[BEFORE, atom]
                elif at >= n:
                    value = atoms[AFTER, atom]
                else:
                    value = atoms[types[at], atom]
                h = (h ^ value) * GOLDEN
                h ^= h >> _32
            rows[i, f] = (h * FOLD) >> shift
