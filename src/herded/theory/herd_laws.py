"""Herds as finite computations: the law of all members after a visit, and after a sweep.

A herd is n chains that are visited together. At a visit of variable i member k has its own
conditional p_k, and all share one uniform phase U, which passes through the members in some order:

    phi = U;    for each member k in the order:    phi += p_k;  x_k = carry;  phi mod 1

So with c_k = p_1 + .. + p_k along the order, x_k = floor(U + c_k) - floor(U + c_(k-1)), which
changes only where U + c_k is whole: at most n breakpoints cut (0, 1) into pieces, and the lengths
of the pieces are the law. K states are a tree of such passes, one phase each: members at the same
node share its phase, and a carry leads to the later states.

Everything here is rational arithmetic on the given conditionals, so that a visit has no rounding.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError, ModelError
from herded.models.protocol import Model
from herded.theory.state_space import MAX_KERNEL_STATES, all_states, check_small, conditional

Law = list[tuple[Fraction, tuple[int, ...]]]  # states of all members, each with its probability
DrawLaw = Callable[[Sequence[Sequence[Any]], Sequence[int]], Law]
TREE_KINDS = ("chain", "halves")
MEMBER_ORDERS = ("shuffled", "sorted", "fixed")


def together_law(
    conditionals: ArrayLike | Sequence[Sequence[Fraction]],
    order: Sequence[int] | None = None,
    *,
    tree: str = "chain",
) -> Law:
    """Compute the law of the members' new states under a systematic draw, over all phases.

    Parameters
    ----------
    conditionals : array_like of shape (members, K)
        Row k is member k's conditional, in floats or fractions.
    order : sequence of int, optional
        The order in which the phase passes through the members; by default 0, 1, ..
    tree : "chain" or "halves"
        How K > 2 states are split: the first from all later ones, then the second from later ones,
        and so on; or the first half from the second, and so on.

    Returns
    -------
    list of (Fraction, tuple of int)
        Probabilities, and the states of all members.

    Raises
    ------
    ModelError
        If a row is not a distribution, or `order` is not an order of the members.

    Examples
    --------
    Two members, one of which is 1 with probability 1/4 and the other with 1/2: never both.

    >>> for probability, states in hd.theory.together_law([[0.75, 0.25], [0.5, 0.5]]):
    ...     print(probability, states)
    1/4 (0, 0)
    1/2 (0, 1)
    1/4 (1, 0)
    """
    rows = _fractions(conditionals)
    chosen = list(range(len(rows))) if order is None else [int(k) for k in order]
    if sorted(chosen) != list(range(len(rows))):
        raise ModelError(f"expected an order of {len(rows)} members, got {chosen}")
    if tree not in TREE_KINDS:
        raise MethodError(f"expected tree as one of {TREE_KINDS}, got {tree!r}")
    return _systematic_law_in_order(rows, chosen, tree)


def phase_law(steps: Sequence[Fraction]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Return the pieces of a uniform phase that goes once round: their lengths, and who carries.

    Parameters
    ----------
    steps : sequence of Fraction
        What each member adds to the phase, in the order of the members; from 0 to 1.

    Yields
    ------
    (Fraction, tuple of int)
        The length of a piece, and 1 for each member that carries, else 0.

    Examples
    --------
    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> for length, carried in hd.theory.phase_law([third, third, third]):
    ...     print(length, carried)
    1/3 (0, 0, 1)
    1/3 (0, 1, 0)
    1/3 (1, 0, 0)
    """
    ratios = [Fraction(step).as_integer_ratio() for step in steps]
    whole = math.lcm(
        *(below for _, below in ratios)
    )  # 1 as a multiple of the common unit of all steps
    parts = [above * (whole // below) for above, below in ratios]
    upto = list(accumulate(parts, initial=0))
    edges = sorted({whole, *(-c % whole for c in upto)})
    for left, right in pairwise(edges):
        wound = [(left + right + 2 * c) // (2 * whole) for c in upto]  # at the piece's middle
        yield Fraction(right - left, whole), tuple(b - a for a, b in pairwise(wound))


def visit_law(
    conditionals: Sequence[Sequence[Any]],
    *,
    draw: DrawLaw = together_law,
    orders: str = "shuffled",
) -> Law:
    """Compute the law of a visit with a random order of members, independent of the phase.

    Parameters
    ----------
    conditionals : sequence of rows, (members, K)
    draw : callable
        `draw(conditionals, order)` returns the law in one order; by default `together_law`.
    orders : "shuffled", "sorted" or "fixed"
        The order of the phase: "shuffled", with all orders equally likely; "sorted" by
        conditionals, with equal ones shuffled; or "fixed", 0, 1, ..

    Returns
    -------
    list of (Fraction, tuple of int)

    Examples
    --------
    Shuffled, two members of three that are 1 with probability 2/3 can be any two:

    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> for probability, states in hd.theory.visit_law([[third, 2 * third]] * 3):
    ...     print(probability, states)
    1/3 (0, 1, 1)
    1/3 (1, 0, 1)
    1/3 (1, 1, 0)
    """
    if orders not in MEMBER_ORDERS:
        raise MethodError(f"expected orders as one of {MEMBER_ORDERS}, got {orders!r}")
    every = permutations(range(len(conditionals)))
    chosen = [next(every)] if orders == "fixed" else list(every)
    if orders == "sorted":  # Python's sort is stable
        chosen = [tuple(sorted(order, key=lambda k: list(conditionals[k]))) for order in chosen]
    rows: Any = conditionals
    if draw is together_law:  # the part common to all orders
        rows, draw = _fractions(conditionals), _systematic_law_in_order
    law = _merge_equal_states(
        (probability * count, states)
        for order, count in Counter(chosen).items()
        for probability, states in draw(rows, order)
    )
    return [(probability / len(chosen), states) for probability, states in law]


def herd_kernel(
    model: Model,
    i: int,
    members: int,
    *,
    draw: DrawLaw = together_law,
    orders: str = "shuffled",
) -> np.ndarray:
    """Compute the transition matrix of a visit of variable i in all members of a herd.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence, with S joint states.
    i : int
        The variable, counted from 0.
    members : int
        S ** members may be at most 2048.
    draw : callable
        `draw(conditionals, order)` returns the law of a visit; by default `together_law`.
    orders : "shuffled", "sorted" or "fixed"
        The order of the phase: "shuffled", with all orders equally likely; "sorted" by
        conditionals, with equal ones shuffled; or "fixed", 0, 1, ..

    Returns
    -------
    ndarray of shape (S ** members, S ** members)
        Herds in C order: the last member's state varies fastest.

    Examples
    --------
    Two members at zero field: in every case one becomes 1 and the other 0.

    >>> coin = hd.FactorGraph([2], [((0,), np.zeros(2))])
    >>> hd.theory.herd_kernel(coin, 0, 2)[0]
    array([0. , 0.5, 0.5, 0. ])
    """
    cards = check_small(model)
    if not 0 <= i < len(cards):
        raise ModelError(f"expected a variable from 0 to {len(cards) - 1}, got {i}")
    size = _herds(cards, members)
    states = all_states(cards)
    stride = math.prod(cards[i + 1 :])
    others = np.arange(len(states)) - stride * states[:, i]
    rows = conditional(model, i).ravel()[others[:, None] + stride * np.arange(cards[i])]
    contexts, of_state = np.unique(rows, axis=0, return_inverse=True)
    herds = all_states([len(states)] * members)
    places = len(states) ** np.arange(members)[::-1]
    without = (
        others[herds] @ places
    )  # the herd's number with all members in state 0 of the variable
    seen, of_herd = np.unique(of_state.ravel()[herds], axis=0, return_inverse=True)
    kernel = np.zeros((size, size))
    for at, key in enumerate(seen):
        law = visit_law([contexts[c].tolist() for c in key], draw=draw, orders=orders)
        new = stride * (np.array([drawn for _, drawn in law]) @ places)
        same = np.flatnonzero(of_herd.ravel() == at)
        np.add.at(
            kernel,
            (same[:, None], without[same, None] + new),
            [float(probability) for probability, _ in law],
        )
    return kernel


def herd_sweep_kernel(
    model: Model,
    members: int,
    order: Sequence[int] | None = None,
    *,
    draw: DrawLaw = together_law,
    orders: str = "shuffled",
) -> np.ndarray:
    """Compute the transition matrix of a sweep of a herd, with a fresh phase at every visit.

    Parameters
    ----------
    model, members, draw, orders
        As in `herd_kernel`.
    order : sequence of int, optional
        The order of the variables; by default 0, 1, .., N-1.

    Returns
    -------
    ndarray of shape (S ** members, S ** members)

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> kernel = hd.theory.herd_sweep_kernel(model, 2)
    >>> kernel.shape, bool(np.allclose(kernel.sum(axis=1), 1))
    ((16, 16), True)
    """
    cards = check_small(model)
    size, kernel = _herds(cards, members), None
    for i in range(len(cards)) if order is None else order:
        visit = herd_kernel(model, int(i), members, draw=draw, orders=orders)
        kernel = visit if kernel is None else kernel @ visit
    return np.eye(size) if kernel is None else kernel


def member_kernel(kernel: ArrayLike, members: int, k: int) -> np.ndarray:
    """Compute the law of one member's next state, from every state of the whole herd.

    Parameters
    ----------
    kernel : array_like of shape (S ** members, S ** members)
        A matrix from `herd_kernel` or `herd_sweep_kernel`.
    members : int
    k : int
        The member, counted from 0.

    Returns
    -------
    ndarray of shape (S ** members, S)

    Examples
    --------
    >>> coin = hd.FactorGraph([2], [((0,), np.log([0.25, 0.75]))])
    >>> hd.theory.member_kernel(hd.theory.herd_kernel(coin, 0, 2), 2, 0)[0]
    array([0.25, 0.75])
    """
    herds = np.asarray(kernel, dtype=np.float64)
    states = round(len(herds) ** (1 / members))
    if herds.shape != (states**members,) * 2 or not 0 <= k < members:
        raise ModelError(
            f"expected a kernel of herds of {members} and a member from 0 to {members - 1}, got "
            f"shape {herds.shape} and member {k}"
        )
    others = tuple(1 + j for j in range(members) if j != k)
    found: np.ndarray = herds.reshape(-1, *[states] * members).sum(axis=others)
    return found


def _fractions(conditionals: Any) -> list[list[Fraction]]:
    rows = [[Fraction(p) for p in row] for row in conditionals]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ModelError("expected rows of one length, one for each member")
    if any(not row or min(row) < 0 or abs(float(sum(row)) - 1) > 1e-9 for row in rows):
        raise ModelError("expected rows of probabilities that sum to 1")
    return rows


def _systematic_law_in_order(
    rows: Sequence[Sequence[Fraction]], order: Sequence[int], tree: str = "chain"
) -> Law:
    """Compute `together_law` for valid rows and a valid order."""
    whole = order, 0, len(rows[0])
    return _merge_equal_states(
        (probability, tuple(states[k] for k in range(len(rows))))
        for probability, states in _ways(rows, [whole], tree, Fraction(1), {})
    )


def _ways(
    rows: Sequence[Sequence[Fraction]],
    nodes: list[tuple[Sequence[int], int, int]],
    tree: str,
    probability: Fraction,
    states: dict[int, int],
) -> Iterator[tuple[Fraction, dict[int, int]]]:
    """Yield all ways in which members at nodes of states low .. high - 1 end at single states.

    `probability` is that of the way so far, `states` are those of all other members.
    """
    if not nodes:
        yield probability, states
        return
    (members, low, high), *others = nodes
    if high - low == 1 or not members:
        yield from _ways(rows, others, tree, probability, states | dict.fromkeys(members, low))
        return
    middle = low + 1 if tree == "chain" else (low + high) // 2
    steps = [Fraction(sum(rows[k][middle:high])) / sum(rows[k][low:high]) for k in members]
    for length, carried in phase_law(steps):
        early = [k for k, carry in zip(members, carried, strict=True) if not carry]
        later = [k for k, carry in zip(members, carried, strict=True) if carry]
        below = [(early, low, middle), (later, middle, high), *others]
        yield from _ways(rows, below, tree, probability * length, states)


def _merge_equal_states(pieces: Iterable[tuple[Fraction, tuple[int, ...]]]) -> Law:
    """Merge equal states by summing their probabilities as whole numbers of a common unit."""
    every = [(*probability.as_integer_ratio(), states) for probability, states in pieces]
    whole = math.lcm(*{below for _, below, _ in every})
    found: dict[tuple[int, ...], int] = {}
    for above, below, states in every:
        found[states] = found.get(states, 0) + above * (whole // below)
    return [(Fraction(parts, whole), states) for states, parts in sorted(found.items())]


def _herds(cards: tuple[int, ...], members: int) -> int:
    size: int = math.prod(cards) ** members if members >= 1 else 0
    if not 1 <= size <= MAX_KERNEL_STATES:
        raise MethodError(
            f"expected one member or more, with at most {MAX_KERNEL_STATES} states of the whole "
            f"herd, got {members} of {math.prod(cards)} states each: use a smaller model or herd"
        )
    return size
