"""Denoising beyond the paper: quality and seconds of what one could use instead.

The exact MAP by graph cut needs PyMaxflow and total variation needs scikit-image; without them
their rows are left out by name. PyMaxflow is GPL and is used here only, never by the package.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import herded as hd
from herded.paper.denoising import drawn_picture

SIGMAS = (2, 4, 8)


def posterior_methods() -> dict[str, tuple[Any, int]]:
    """Methods on the same posterior, and their sweeps."""
    herded = partial(hd.HerdedGibbs, phases="half")
    return {
        "herded, shared": (herded("shared"), 30),
        "herded, shared, row by row": (herded("shared", scan="sequential"), 30),
        "herded, blanket": (herded("blanket"), 30),
        "herded, one weight per pixel": (herded("pooled"), 30),
        "herded, blanket, slack 1": (herded("blanket", slack=1.0), 30),
        "herded, shared, 1,000 sweeps": (herded("shared"), 1000),
        "Gibbs": (hd.Gibbs(), 30),
        "Gibbs, 1,000 sweeps": (hd.Gibbs(), 1000),
        "mean field, D = 1, checkerboard": (hd.MeanField(updates="checkerboard"), 30),
        "loopy belief propagation, D = 0.5": (hd.BeliefPropagation(damping=0.5), 30),
    }


def graph_cut(noisy: np.ndarray, sigma: float) -> np.ndarray:
    """The most probable picture of the posterior with J = 1, exactly."""
    import maxflow

    graph = maxflow.Graph[float]()
    nodes = graph.add_grid_nodes(noisy.shape)
    graph.add_grid_edges(nodes, 2.0)  # an unlike pair costs 2 J
    field = noisy / sigma**2
    graph.add_grid_tedges(nodes, np.maximum(2 * field, 0), np.maximum(-2 * field, 0))
    graph.maxflow()
    return ~graph.get_grid_segments(nodes)


def total_variation(noisy: np.ndarray, sigma: float) -> np.ndarray:
    """What a user of scikit-image would try, with a weight that grows with the noise."""
    from skimage.restoration import denoise_tv_chambolle

    return denoise_tv_chambolle(noisy, weight=1.5 * sigma) > 0


def coupling_estimated(noisy: np.ndarray, sigma: float) -> np.ndarray:
    return hd.vision.denoise(noisy, sigma, "auto", levels=(-1, 1)) > 0


def lines(quick: bool) -> Iterator[str]:
    yield "## Denoising"
    yield ""
    clean = drawn_picture(128 if quick else 256)
    images = 1 if quick else 3
    others: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
        "herded, shared, coupling estimated": coupling_estimated,
        "exact MAP by graph cut (PyMaxflow)": graph_cut,
        "total variation (scikit-image)": total_variation,
    }
    yield f"Wrong pixels in % and seconds, {clean.shape[0]} x {clean.shape[1]}, {images} pictures"
    yield ""
    yield "| method | " + " | ".join(f"sigma {s}" for s in SIGMAS) + " | seconds |"
    yield "|---|" + "---|" * (len(SIGMAS) + 1)
    for name, (method, sweeps) in posterior_methods().items():
        restorer = _restorer(method, sweeps)
        restorer(_noisy(clean[:16, :16], 2, 0), 2)  # compiles
        yield _row(name, restorer, clean, images)
    for name, restorer in others.items():
        try:
            restorer(_noisy(clean[:16, :16], 2, 0), 2)
        except ImportError as error:
            yield f"| {name} | (skipped: {error.name} is not installed) |"
            continue
        yield _row(name, restorer, clean, images)


def _restorer(method: Any, sweeps: int) -> Callable[[np.ndarray, float], np.ndarray]:
    def restorer(noisy: np.ndarray, sigma: float) -> np.ndarray:
        found = hd.vision.denoise(noisy, sigma, 1.0, levels=(-1, 1), method=method, sweeps=sweeps)
        return found > 0

    return restorer


def _noisy(clean: np.ndarray, sigma: int, image: int) -> np.ndarray:
    rng = np.random.default_rng([sigma, image])
    return np.where(clean, 1.0, -1.0) + sigma * rng.normal(size=clean.shape)


def _row(name: str, restorer: Any, clean: np.ndarray, images: int) -> str:
    errors, began = [], time.perf_counter()
    for sigma in SIGMAS:
        wrong = [(restorer(_noisy(clean, sigma, i), sigma) != clean).mean() for i in range(images)]
        errors.append(f"{100 * np.mean(wrong):.2f}")
    seconds = (time.perf_counter() - began) / (len(SIGMAS) * images)
    return f"| {name} | {' | '.join(errors)} | {seconds:.2f} |"
