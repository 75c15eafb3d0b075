"""Herded Gibbs on a complete graph is a rotor-router walk (Holroyd and Propp, 2010).

The walk's places are pairs (i, x_-i): "variable i is next, the others are x_-i". Each place has a
rotor, which only counts how often the walk has left it, and a stack of exits; exit number n of the
stack says where the n-th departure goes. A rotor-router walk on a Markov chain with transition
probabilities p uses a stack in which every exit k appears n p_k + O(1) times among the first n,
here

    two exits    exit n = floor(n p + 1/2) - floor((n - 1) p + 1/2)      (a Sturmian word)
    more         exit n = argmax_k (n p_k - times k was taken)

There are no weights here and no herding, only rotors and stacks. Both visit the same states in the
same order, because the weight of Algorithm 1 after n visits *is* 1/2 + n p - exits taken.
"""

import numpy as np

from herded.errors import MethodError
from herded.models.protocol import Model
from herded.theory.paper_checks import is_complete
from herded.theory.state_space import check_small
from herded.theory.update_path import (
    MAX_PATH_STATES,
    ConditionalPlanes,
    paper_method,
    starting_state,
)


def exit_of_two(n: int, p: int, bits: int) -> int:
    """Return exit number n = 1, 2, .. of a place whose exit 1 has probability p / 2^bits.

    It uses whole numbers; the half is one quantum short, so that a tie goes to exit 0.
    """
    half = (1 << (bits - 1)) - 1
    return ((n * p + half) >> bits) - (((n - 1) * p + half) >> bits)


def exit_of_many(n: int, p: list[int], taken: list[int], bits: int) -> int:
    """Return exit n of a place whose exits have probabilities p / 2^bits: the most overdue one."""
    possible = [k for k in range(len(p)) if p[k] > 0]
    return max(possible, key=lambda k: (n * p[k] - (taken[k] << bits), -k))


def rotor_router(model: Model, sweeps: int) -> np.ndarray:
    """Return the states of a rotor-router walk: those of herded Gibbs on a complete graph.

    On a sparse graph herded Gibbs shares a rotor between places, and is no longer a rotor-router
    walk on the graph of joint states.

    Returns (N * sweeps + 1, N) states, one per step, the start first.
    """
    check_small(model, MAX_PATH_STATES)
    if not is_complete(model):
        raise MethodError(
            "expected a complete graph, where each weight is the rotor of one place, got a sparse "
            "one: herded Gibbs is not a rotor-router walk there"
        )
    tables = ConditionalPlanes(paper_method().compile(model, kind="table"))
    x = [int(v) for v in starting_state(model)]
    n = len(x)
    rotor: dict[tuple[int, ...], list[int]] = {}  # place -> how often each exit was taken
    path = [tuple(x)]
    for step in range(n * sweeps):
        i = step % n
        place = (i, *x[:i], *x[i + 1 :])
        p = tables.p(i, x)
        taken = rotor.setdefault(place, [0] * int(model.cardinalities[i]))
        departure = sum(taken) + 1
        if tables.scalar:
            x[i] = exit_of_two(departure, p[0], tables.bits)
        else:
            x[i] = exit_of_many(departure, p, taken, tables.bits)
        taken[x[i]] += 1
        path.append(tuple(x))
    return np.array(path)
