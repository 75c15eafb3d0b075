"""Binary lattices packed by colour, so that a sweep is a few straight loops over rows.

Site (r, j) has colour (r + j) % 2 and lies at column j // 2 of that colour's half-lattice. All
neighbours of a site have the other colour: above and below at the same column, beside it at the
same column and one to the left (right) on rows where the colour starts at j = 0 (1).

Planes p[colour, row, context, column] hold round(pi(X = 1 | context) * 2^31). A context is the
count of neighbours that are 1 (five contexts, equal couplings: the paper's shared version) or
their four bits (sixteen contexts: Algorithm 1). Columns that no site has, and clamped sites,
have p = 0 or 2^31, which herding respects for ever.
"""

from typing import NamedTuple

import numpy as np

from herded.jit import jit
from herded.plan.conditional import fixed_scalar, lock


class LatticeArrays(NamedTuple):
    p: np.ndarray  # (2, H, Q, M) uint32


def compile_lattice(model, contexts: int) -> LatticeArrays:
    """The planes of a two-state, open lattice with 5 or 16 contexts."""
    h, w = model.shape
    p = np.zeros((2, h, contexts, (w + 1) // 2), np.uint32)
    _fill(model.log_unary, model.right, model.down, model.unlike, model.clamped, p)
    return lock(LatticeArrays(p))


@jit
def _fill(log_unary, right, down, unlike, clamped, p):
    h, w, _ = log_unary.shape
    contexts = p.shape[2]
    coupling = np.empty(4)
    there = np.empty(4, np.bool_)
    logits = np.empty(2)
    for r in range(h):
        for j in range(w):
            there[0], there[1], there[2], there[3] = j > 0, j < w - 1, r > 0, r < h - 1
            coupling[0] = right[r, j - 1] if j > 0 else 0.0
            coupling[1] = right[r, j] if j < w - 1 else 0.0
            coupling[2] = down[r - 1, j] if r > 0 else 0.0
            coupling[3] = down[r, j] if r < h - 1 else 0.0
            colour, column = (r + j) & 1, j >> 1
            for q in range(contexts):
                if clamped[r, j] >= 0:
                    p[colour, r, q, column] = np.uint32(2**31 * clamped[r, j])
                    continue
                logits[0], logits[1] = log_unary[r, j, 0], log_unary[r, j, 1]
                ones = q
                for d in range(4):
                    if not there[d]:
                        continue
                    if contexts == 16:
                        up = (q >> d) & 1
                    else:
                        up = 1 if ones > 0 else 0
                        ones -= up
                    logits[up] += coupling[d]
                    logits[1 - up] += coupling[d] * unlike
                p[colour, r, q, column] = fixed_scalar(logits[0], logits[1], 1.0)


def pack(states: np.ndarray) -> np.ndarray:
    """(..., H, W) pictures as (..., 2, H, M) half-lattices."""
    h, w = states.shape[-2:]
    packed = np.zeros((*states.shape[:-2], 2, h, (w + 1) // 2), states.dtype)
    for colour, parity, rows, columns, half in _halves(w):
        packed[..., colour, rows, half] = states[..., rows, columns]
    return packed


def unpack(packed: np.ndarray, w: int) -> np.ndarray:
    """The pictures of width `w` that `pack` packed."""
    h = packed.shape[-2]
    states = np.empty((*packed.shape[:-3], h, w), packed.dtype)
    for colour, parity, rows, columns, half in _halves(w):
        states[..., rows, columns] = packed[..., colour, rows, half]
    return states


def _halves(w: int):
    """The four strided pieces: colour, parity of the row, and the slices on both sides."""
    for parity in (0, 1):
        for colour in (0, 1):
            first = (parity + colour) & 1
            columns = slice(first, None, 2)
            half = slice(0, (w - first + 1) // 2)
            yield colour, parity, slice(parity, None, 2), columns, half
