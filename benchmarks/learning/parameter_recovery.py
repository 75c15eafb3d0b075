"""Learning: couplings of Ising models, an RBM of digits, and graphs that are found again.

Couplings are drawn, samples are exact on small grids (by transfer matrices) and those of a long
herd elsewhere. RBMs are held to the exact likelihood of test rows, at equal CPU time.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd

ROWS, BURN_IN = 5_000, 2_000
HIDDEN = 16  # units
RATES = (0.1, 0.03, 0.01)  # of the peer: its default, and two that are better
SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])


def lines(quick: bool) -> Iterator[str]:
    yield "## Learning"
    yield ""
    yield from couplings(quick)
    yield ""
    yield from digits(quick)
    yield ""
    yield from graphs(quick)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and its CPU seconds."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


# -- couplings ---------------------------------------------------------------------------------


def couplings(quick: bool) -> Iterator[str]:
    yield f"Couplings of Ising grids from {ROWS:,} samples: fields and couplings are normal with"
    yield "standard deviations 0.2 and as given; root mean square errors of couplings (those of all"
    yield "models of a line together), their ratio to exact maximum likelihood's, and CPU seconds"
    yield ""
    yield "| grid | couplings | learned by | error | ratio to exact | CPU s |"
    yield "|---|---|---|---|---|---|"
    cases = ((6, 0.3, 1),) if quick else ((10, 0.3, 3), (10, 0.6, 3), (30, 0.3, 1))
    for side, spread, models in cases:
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(models):
            for name, error, seconds in learned(side, spread, seed):
                found.setdefault(name, []).append((error, seconds))
        exact = found.get("exact")
        for name, pairs in found.items():
            error, seconds = np.sqrt(np.mean([e * e for e, _ in pairs])), pairs[-1][1]
            best = np.sqrt(np.mean([e * e for e, _ in exact])) if exact else np.nan
            ratio = f"{error / best:.3f}" if exact else ""
            yield f"| {side}x{side} | {spread} | {name} | {error:.5f} | {ratio} | {seconds:.2f} |"


def learned(side: int, spread: float, seed: int) -> Iterator[tuple[str, float, float]]:
    """By each method: the error of couplings, and CPU seconds; the first run compiles."""
    rng = np.random.default_rng(seed)
    shape = (side, side)
    right, down = rng.normal(0, spread, (side, side - 1)), rng.normal(0, spread, (side - 1, side))
    truth = hd.ising_grid(rng.normal(0, 0.2, shape), (right, down))
    small = side <= 12
    rows = exact_rows(truth, ROWS, rng) if small else herd_rows(truth, ROWS)
    blank = hd.ising_grid(np.zeros(shape), 0.0)
    ways: dict[str, dict[str, Any]] = {"exact": {"method": "exact"}} if small else {}
    ways |= {"herd": {"method": "herd"}, "pseudo-likelihood": {"objective": "pseudo"}}
    for name, options in ways.items():
        hd.learn.fit(blank, rows[:50], l2=np.full(3 * side**2 - 2 * side, 0.1), steps=2, **options)
        fitted, seconds = timed(lambda o=options: hd.learn.fit(blank, rows, progress=False, **o))
        error = fitted.model.all_couplings - truth.all_couplings
        yield name, float(np.sqrt((error**2).mean())), seconds


def exact_rows(model: hd.Lattice, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Independent samples of an Ising grid: transfer matrices down its lines, and drawn back up."""
    width = model.shape[1]
    spins = 2.0 * (np.arange(2**width)[:, None] >> np.arange(width) & 1) - 1.0  # of one line
    fields, right, down = model.log_unary[..., 1], *model.couplings
    alone = spins @ fields.T + (spins[:, :-1] * spins[:, 1:]) @ right.T  # (states, lines)
    ties = [(spins * along) @ spins.T for along in down]
    above = [alone[:, 0]]  # log of the sum over all lines before, by the state of this one
    for line, tie in enumerate(ties, start=1):
        whole = above[-1][:, None] + tie
        top = whole.max(axis=0)
        above.append(alone[:, line] + top + np.log(np.exp(whole - top).sum(axis=0)))
    drawn = [draw(np.broadcast_to(above[-1], (rows, len(spins))), rng)]
    for before, tie in zip(above[-2::-1], ties[::-1], strict=True):
        drawn.append(draw(before + tie.T[drawn[-1]], rng))
    lines = spins[np.stack(drawn[::-1], axis=1)]  # (rows, lines, width)
    return (lines.reshape(rows, -1) > 0).astype(np.int64)


def draw(logs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A state for each row of unnormalised log-probabilities."""
    upto = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    return (upto < rng.random((len(logs), 1)) * upto[:, -1:]).sum(axis=1)


def herd_rows(model: Any, rows: int, seed: int = 0) -> np.ndarray:
    """The members of a herd after a long burn-in."""
    keep = [hd.Samples(every=BURN_IN)]
    method = hd.Gibbs(seed=seed, herd=rows)
    found = hd.infer(model, method, sweeps=BURN_IN, keep=keep, progress=False)
    return found.samples.reshape(rows, model.n_variables)


# -- digits ------------------------------------------------------------------------------------


def digits(quick: bool) -> Iterator[str]:
    yield f"RBM of 64 visible and {HIDDEN} hidden units: exact mean log-likelihood of the fifth of"
    yield "the rows that was held out, after equal CPU time; log Z by annealing beside the exact"
    yield ""
    try:
        from sklearn.neural_network import BernoulliRBM
    except ImportError:
        yield "(skipped: no peer to compare with; pip install scikit-learn)"
        return
    yield "| rows | epochs of RBM | CPU s | RBM | RBM, rate 0.5 |" + "".join(
        f" BernoulliRBM, rate {rate} |" for rate in RATES
    )
    yield "|---|---|---|---|---|" + "---|" * len(RATES)
    first = None
    for name, rows in pictures().items():
        train, test = np.split(rows, [4 * len(rows) // 5])
        hd.learn.RBM(HIDDEN, epochs=1).fit(train)
        for epochs in (20,) if quick else (40, 150, 400):
            ours = hd.learn.RBM(HIDDEN, epochs=epochs, progress=False)
            _, seconds = timed(lambda o=ours, t=train: o.fit(t))
            slow = hd.learn.RBM(HIDDEN, epochs=epochs, rate=0.5, progress=False).fit(train)
            peers = []
            for rate in RATES:
                short = BernoulliRBM(HIDDEN, learning_rate=rate, n_iter=10, random_state=0)
                _, ten = timed(lambda s=short, t=train: s.fit(t))
                n_iter = max(1, round(10 * seconds / ten))
                peer = BernoulliRBM(HIDDEN, learning_rate=rate, n_iter=n_iter, random_state=0)
                peers.append(likelihood(peer.fit(train), test))
            cells = [ours.score(test), slow.score(test), *peers]
            told = " | ".join(f"{cell:.2f}" for cell in cells)
            yield f"| {name} | {epochs} | {seconds:.2f} | {told} |"
        first = first or ours
    yield ""
    exact = first.log_z(exact=True).value
    found, seconds = timed(lambda: first.log_z(exact=False))
    low, high = found.interval
    inside = "within" if low <= exact <= high else "outside"
    yield f"log Z of the last RBM of digits: {exact:.4f}, by annealing {found.value:.4f} ({low:.4f}"
    yield f"to {high:.4f}, 95 %) in {seconds:.1f} CPU s: the exact one is {inside} the interval."


def pictures() -> dict[str, np.ndarray]:
    """Rows of 8x8 pictures: digits, 1 above 7; each moved by up to a pixel; bars and stripes."""
    from sklearn.datasets import load_digits

    rows = (load_digits().data > 7).astype(int)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    rng, images = np.random.default_rng(1), rows.reshape(-1, 8, 8)
    moved = [np.roll(one, rng.integers(-1, 2, 2), (0, 1)) for one in images]
    lines, upright = rng.random((1_800, 8)) < 0.3, rng.random((1_800, 1, 1)) < 0.5
    bars = np.where(upright, lines[:, :, None], lines[:, None, :])
    bars = bars ^ (rng.random(bars.shape) < 0.03)
    return {
        "digits": rows,
        "digits moved": np.stack(moved).reshape(-1, 64),
        "bars and stripes": bars.reshape(-1, 64).astype(int),
    }


def likelihood(peer: Any, rows: np.ndarray) -> float:
    """The exact mean log-likelihood of scikit-learn's machine."""
    from herded.learn.boltzmann.rbm_parameters import RBMParameters

    first = np.arange(rows.shape[1] + 1)
    weights = np.ascontiguousarray(peer.components_.T, np.float64)
    layers = RBMParameters(first, weights, peer.intercept_visible_, peer.intercept_hidden_)
    exact = layers.enumerated_log_z()
    assert exact is not None
    columns = np.ascontiguousarray(rows.T).astype(np.uint16)
    return float(layers.log_scores(columns).mean() - exact)


# -- graphs ------------------------------------------------------------------------------------


def graphs(quick: bool) -> Iterator[str]:
    yield "Random graphs of degree 3 on average, couplings of 0.3 to 0.6 of either sign, found by"
    yield "`find_structure`: edges that are right, missed and wrong"
    yield ""
    yield "| spins | rows | chosen by | right | missed | wrong | CPU s |"
    yield "|---|---|---|---|---|---|---|"
    hd.learn.find_structure(np.random.default_rng(0).integers(0, 2, (20, 3)))
    for n, rows in ((16, 500),) if quick else ((30, 1_000), (64, 2_000), (64, 500)):
        rng = np.random.default_rng(n)
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        edges = pairs[np.sort(rng.choice(len(pairs), 3 * n // 2, replace=False))]
        strength = rng.choice([-1.0, 1.0], len(edges)) * rng.uniform(0.3, 0.6, len(edges))
        model = hd.pairwise_model(
            rng.normal(0, 0.2, (n, 2)), edges, strength[:, None, None] * SPINS
        )
        data, true = herd_rows(model, rows), set(map(tuple, edges.tolist()))
        for choose in ("ebic", "held-out"):
            found, seconds = timed(
                lambda d=data, c=choose: hd.learn.find_structure(d, choose=c, progress=False)
            )
            got = set(map(tuple, found.edges.tolist()))
            told = f"{len(got & true)} | {len(true - got)} | {len(got - true)} | {seconds:.2f}"
            yield f"| {n} | {rows:,} | {choose} | {told} |"
