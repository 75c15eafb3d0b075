"""Step 1 of Algorithm 1 of Bornn et al. (2013), "Initialize X(0) in the support of pi".

If no entry is -inf, every state is in the support and a random state is a start. With hard zeros,
finding a start is a constraint satisfaction problem, solved by the search in
`herded.models.constraints.constraint_search`. The problem is NP-hard, so the number of dead ends is
limited. A search that ends before this limit without a state has proved that there is none.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import InfeasibleError, ModelError
from herded.models.constraints.constraint_search import (
    SEARCH_GAVE_UP,
    SEARCH_SUCCEEDED,
    compile_hard,
    full_domains,
    propagate_all,
    search_all,
)
from herded.models.factor_graph import FactorGraph, has_factors, to_factor_graph
from herded.models.naming import variable_text
from herded.models.protocol import Model, model_capabilities
from herded.models.validation import check_states
from herded.system.compilation.jit import plain_python_if_short
from herded.system.last_value_cache import cache_last
from herded.system.numerics.counter_rng import random_bits_array

if TYPE_CHECKING:
    from herded.models.lattice import Lattice

MAX_START_SEARCHES = 8  # searches for one start that differs from the earlier ones
MAX_DEAD_ENDS = 1000  # dead ends allowed in each of them
CACHED_DRAWS = 64  # cached draws: a small run takes less time than making them
MAX_SEARCHED_STARTS = 16  # starts that are searched for; larger herds share them


def start_state(model: Model, key: np.uint64, *, tries: int = 100_000) -> np.ndarray:
    """Find a state (N,) of positive probability that agrees with the evidence.

    The key of a random stream selects the state. A search gives up after `tries` dead ends.
    """
    if model.has_hard_zeros and not has_factors(model):
        raise InfeasibleError(
            "expected start= (a state of your own) for a model that has hard zeros but no factors, "
            "in which a start could be searched for: pass one"
        )
    if model.has_hard_zeros and not model.zeros_tie_variables:
        return _possible_pixels(cast("Lattice", model), np.uint64(key))
    if not model.has_hard_zeros:
        return uniform_state(np.uint64(key), model.cardinalities, model.evidence)
    outcome, x = _search(to_factor_graph(model), model.evidence, key, tries)
    if outcome == SEARCH_GAVE_UP:
        raise InfeasibleError(
            f"expected a state of positive probability, but none was found within {tries} tries: "
            "pass start= (a state of your own)"
        )
    if outcome != SEARCH_SUCCEEDED:
        raise _impossible(model, outcome)
    return x


def _search(
    graph: FactorGraph, evidence: np.ndarray, key: np.uint64, tries: int
) -> tuple[int, np.ndarray]:
    """Search for a state that agrees with `evidence`: the outcome, and the state if it is
    SEARCH_SUCCEEDED."""
    x = uniform_state(np.uint64(key), graph.cardinalities, evidence)
    hard = compile_hard(graph)
    domains = full_domains(graph, hard, evidence)
    outcome = int(search_all(hard, domains, np.uint64(key), tries))
    decided = domains.size == 1
    x[decided] = domains.states[hard.state_start[:-1][decided]]
    return outcome, x


def is_impossible(graph: FactorGraph, evidence: np.ndarray) -> bool:
    """Return whether hard zeros provably leave no state that agrees with `evidence` (N,)."""
    outcome, _ = _search(graph, evidence, np.uint64(0), MAX_DEAD_ENDS)
    return outcome not in (SEARCH_SUCCEEDED, SEARCH_GAVE_UP)


def dispersed_starts(model: Model, keys: Sequence[np.uint64]) -> list[np.ndarray]:
    """Build one start for each key, far from each other.

    The first start and all from the fourth on are random. The second has every variable in its
    first state, the third in its last: these are opposite modes of every model whose variables
    attract each other, where random starts might all fall on one side. For variables in hard
    factors, states are searched for instead, so that each start has some state that no earlier one
    has.
    """
    hard = model.has_hard_zeros
    if hard and not model.zeros_tie_variables:
        return [start_state(model, key) for key in keys]
    starts: list[np.ndarray] = []
    for key in keys:
        starts.append(
            _start_away_from(model, starts, key) if hard and starts else start_state(model, key)
        )
    if len(starts) == 1:
        return starts
    loose = model.evidence < 0
    if hard:
        loose &= np.diff(compile_hard(to_factor_graph(model)).entry_start) == 0
    extremes = (np.zeros_like(model.cardinalities), model.cardinalities - 1)
    for chain, x in zip(range(1, len(keys)), extremes, strict=False):
        starts[chain] = np.where(loose, x, starts[chain])
    return starts


def member_starts(model: Model, members: int, key: np.uint64) -> np.ndarray:
    """Draw random starts (members, N) for a herd.

    If hard zeros tie variables, each start takes a search: a few are searched for, and members
    share them.
    """
    if not model.has_hard_zeros:
        return _uniform_members(model, members, key)
    few = members if not model.zeros_tie_variables else min(members, MAX_SEARCHED_STARTS)
    found = np.stack(dispersed_starts(model, random_bits_array(key, few).tolist()))
    return found[np.arange(members) % few]


def _uniform_members(model: Model, members: int, key: np.uint64) -> np.ndarray:
    """Draw uniform states; two states of 64 members are the bits of one draw."""
    n, known = model.n_variables, model.evidence >= 0
    is_narrow = model.cardinalities.max() <= 256
    if model.cardinalities[~known].max(initial=1) <= 2:
        words = -(-members // 64)
        bits = random_bits_array(key, n * words).reshape(n, words).view(np.uint8)
        free = (model.cardinalities > 1).astype(np.uint8)
        states = np.unpackbits(bits, axis=1, count=members, bitorder="little").T * free
    else:
        bits = random_bits_array(key, members * n).reshape(members, n)
        states = bits % model.cardinalities.astype(np.uint64)
        states = states.astype(np.uint16 if is_narrow else np.int64)
    states = states if is_narrow else states.astype(np.int64, copy=False)
    states[:, known] = model.evidence[known]
    return states


def _start_away_from(model: Model, starts: list[np.ndarray], key: np.uint64) -> np.ndarray:
    """Return a start with some state that no earlier one has, if a short search finds one."""
    everyone = np.arange(model.n_variables)
    new = possible_states(model) & (model.evidence < 0)[:, None]
    for x in starts:
        new[everyone, x] = False
    cases = np.argwhere(new)
    order = np.argsort(random_bits_array(key, len(cases)))
    for i, k in cases[order[:MAX_START_SEARCHES]].tolist():
        evidence = model.evidence.copy()
        evidence[i] = k
        outcome, x = _search(to_factor_graph(model), evidence, key, MAX_DEAD_ENDS)
        if outcome == SEARCH_SUCCEEDED:
            return x
    return start_state(model, key)


def check_support(model: Model) -> None:
    """Raise if a short search proves that no state is possible."""
    if model.has_hard_zeros and model.zeros_tie_variables and has_factors(model):
        outcome, _ = _search(to_factor_graph(model), model.evidence, np.uint64(0), MAX_DEAD_ENDS)
        if outcome not in (SEARCH_SUCCEEDED, SEARCH_GAVE_UP):
            raise _impossible(model, outcome)


def _impossible(model: Model, variable: int) -> InfeasibleError:
    return InfeasibleError(
        "expected a state of positive probability, but no state of variable "
        f"{variable_text(model, variable)} is compatible with its factors: correct the evidence "
        "or the zeros"
    )


@cache_last
def possible_states(model: Model) -> np.ndarray:
    """Return the states (N, K) that arc consistency leaves; the others are never possible."""
    width = int(model.cardinalities.max())
    left = np.arange(width) < model.cardinalities[:, None]
    clamped = model.evidence >= 0
    left[clamped] = np.arange(width) == model.evidence[clamped][:, None]
    if not model.has_hard_zeros:
        return left
    graph = to_factor_graph(model)
    hard = compile_hard(graph)
    domains = full_domains(graph, hard, graph.evidence)
    entries = len(graph.log_tables)  # each is read about four times
    if plain_python_if_short(propagate_all, 4 * entries)(hard, domains) != SEARCH_SUCCEEDED:
        return np.zeros_like(left)
    for i in np.flatnonzero(domains.size < model.cardinalities):
        first = hard.state_start[i]
        left[i] = False
        left[i, domains.states[first : first + domains.size[i]]] = True
    return left


def check_start(model: Model, state: ArrayLike) -> np.ndarray:
    """Check a start given by the user and return it as a state (N,)."""
    x = np.array(check_states(model, state))
    if x.ndim != 1:
        raise ModelError(f"expected one state as a start, got an array of shape {np.shape(state)}")
    wrong = (model.evidence >= 0) & (model.evidence != x)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ModelError(
            "expected a start that agrees with the evidence, but variable "
            f"{variable_text(model, i)} is {x[i]} in the start and {model.evidence[i]} in the "
            "evidence: correct one of them"
        )
    if model_capabilities(model).checks_states:  # such a model may have no log-score
        is_possible = cast(Any, model).is_possible(x)
    else:
        is_possible = model.log_score(x) > -np.inf
    if is_possible:
        return x
    if not has_factors(model):
        raise ModelError(
            "expected a start of positive probability, got one whose log-score is -inf: correct "
            "the start"
        )
    graph = to_factor_graph(model)
    for factors, variables, strides in graph.by_arity():
        entries = graph.table_start[factors] + (x[variables] * strides).sum(axis=1)
        for scope in variables[np.isneginf(graph.log_tables[entries])]:
            values = ", ".join(f"{variable_text(model, i)} = {x[i]}" for i in scope)
            raise ModelError(
                f"expected a start of positive probability, but a factor forbids {values}: "
                "correct the start, or leave it out to have one found"
            )
    return x  # possible, although the sum of its logarithms overflows


_few_draws = lru_cache(maxsize=1024)(random_bits_array)  # the arrays are read-only by convention


def uniform_state(key: np.uint64, cardinalities: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Draw every free variable uniformly over its states, each by the draw of the same number."""
    bits = (
        _few_draws(key, len(evidence))
        if len(evidence) <= CACHED_DRAWS
        else random_bits_array(key, len(evidence))
    )
    x = (bits % cardinalities.astype(np.uint64)).astype(np.int64)
    np.copyto(x, evidence, where=evidence >= 0)
    return x


def _possible_pixels(model: "Lattice", key: np.uint64) -> np.ndarray:
    """Draw a uniform state of a lattice over the states that its unaries allow."""
    bits = random_bits_array(key, model.n_variables)
    pixel, state = np.nonzero(~np.isneginf(model.log_unary.reshape(model.n_variables, -1)))
    count = np.bincount(pixel)
    x = state[np.cumsum(count) - count + (bits % count.astype(np.uint64)).astype(np.int64)]
    return np.where(model.evidence >= 0, model.evidence, x)
