"""Herds without fields: do members stay distinct, and how far do energies of herds stray?

Where nothing favours a state, members that draw together could become copies or opposites of each
other. The mean energy of a herd after a sweep is compared with that of as many independent chains,
whose spread is known: all states of these models are enumerated.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from textwrap import wrap
from typing import Any

import numpy as np

import herded as hd
from benchmarks.support.model_families import ring

TITLE = "# Herds without fields"
MEMBERS, QUICK_MEMBERS = (4, 8, 16, 64, 1024), (4,)
SAMPLES, QUICK_SAMPLES = 4000, 20
EVERY, SLOW, BURN_IN = 5, 40, 100  # sweeps; SLOW from one look to the next where J is 1
LAYOUTS = {
    "ring of 8, J = 0.5": ("field", "dense", "table", "factor"),
    "ring of 8, J = 1": ("field", "dense", "table", "factor"),
    "all pairs of 8, J = 0.1": ("field", "dense", "table", "factor"),
    "grid 4x4, J = 0.3": ("grid", "field", "dense", "table", "factor"),
}


def lines(quick: bool) -> Iterator[str]:
    members = QUICK_MEMBERS if quick else MEMBERS
    yield from wrap(
        "Standard deviation of a herd's mean energy over that of as many independent chains, from "
        f"{QUICK_SAMPLES if quick else SAMPLES} sweeps of one run that are {EVERY} apart, or "
        f"{SLOW} where J is 1 (a ratio is uncertain by 2 %), and distinct members over as many as "
        "independent chains would have.",
        100,
    )
    yield ""
    yield "| model | layout | " + " | ".join(f"{n} members | distinct" for n in members) + " |"
    yield "|---" * (2 + 2 * len(members)) + "|"
    for name, layouts in LAYOUTS.items():
        for layout in layouts:
            found = [ratios(name, layout, n, quick) for n in members]
            cells = " | ".join(f"{spread:.2f} | {distinct:.3f}" for spread, distinct in found)
            yield f"| {name} | {layout} | {cells} |"


@cache
def model_of(name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model, the energies of all its states, and their probabilities."""
    strength = float(name.rpartition(" ")[2])
    if name.startswith("grid"):
        model: Any = hd.ising_grid(np.zeros((4, 4)), strength)
    else:
        pairs = ring(8) if name.startswith("ring") else list(combinations(range(8), 2))
        table = strength * np.array([[1.0, -1.0], [-1.0, 1.0]])
        model = hd.pairwise_model(np.zeros((8, 2)), pairs, table)
    energy = model.log_score(np.array(list(product((0, 1), repeat=model.n_variables))))
    weight = np.exp(energy - energy.max())
    return model, energy, weight / weight.sum()


def ratios(name: str, layout: str, members: int, quick: bool = False) -> tuple[float, float]:
    """Spread of the mean energy, and distinct members, over those of independent chains."""
    model, energy, joint = model_of(name)
    samples, every = QUICK_SAMPLES if quick else SAMPLES, SLOW if name.endswith(" 1") else EVERY
    found = hd.infer(
        model,
        hd.Gibbs(herd=members, seed=1),
        sweeps=samples * every,
        burn_in=BURN_IN,
        keep=[hd.Samples(every=every)],
        layout=layout,
        progress=False,
    )
    numbers = found.samples @ (1 << np.arange(model.n_variables - 1, -1, -1))  # (members, samples)
    alone = np.sqrt((joint @ energy**2 - (joint @ energy) ** 2) / members)
    expected = (1 - (1 - joint) ** members).sum()
    distinct = np.mean([len(np.unique(states)) for states in numbers.T])
    return float(energy[numbers].mean(axis=0).std() / alone), float(distinct / expected)
