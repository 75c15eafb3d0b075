"""python -m docs.tools.page_pictures: pictures of the pages tutorial, results and pictures."""

from pathlib import Path

import numpy as np

import herded as hd
from benchmarks.denoising.automatic_settings import grey_pictures, noisy_version, page_of_text
from herded.io.images import write_image

FOLDER = Path(__file__).parents[1] / "pictures"


def net() -> hd.FactorGraph:
    """Rain, a sprinkler and wet grass, which was seen; the street and who slips on it."""
    yes_no = [["no", "yes"]] * 5
    wet = [[[0.99, 0.01], [0.2, 0.8]], [[0.3, 0.7], [0.05, 0.95]]]
    factors = [
        ((0,), np.log([0.8, 0.2])),
        ((0, 1), np.log([[0.9, 0.1], [0.4, 0.6]])),
        ((0, 1, 2), np.log(wet)),
        ((0, 3), np.log([[0.95, 0.05], [0.1, 0.9]])),
        ((3, 4), np.log([[0.99, 0.01], [0.8, 0.2]])),
    ]
    names = ["rain", "sprinkler", "wet grass", "wet street", "slips"]
    return hd.FactorGraph([2] * 5, factors, names=names, state_names=yes_no).given({2: "yes"})


def lawn() -> hd.FactorGraph:
    """The net of the tutorial, whose grass is wet."""
    wet = [[[0.95, 0.05], [0.2, 0.8]], [[0.1, 0.9], [0.05, 0.95]]]
    factors = [
        ((0,), np.log([0.8, 0.2])),
        ((0, 1), np.log([[0.6, 0.4], [0.9, 0.1]])),
        ((1, 0, 2), np.log(wet)),
    ]
    states = [["no", "yes"], ["off", "on"], ["dry", "wet"]]
    names = ["rain", "sprinkler", "grass"]
    return hd.FactorGraph([2] * 3, factors, names=names, state_names=states).given({2: "wet"})


def before_after() -> dict[str, np.ndarray]:
    """A page of text and a grey picture of our own, noisy and restored."""
    page = noisy_version(page_of_text(16, (110, 240)), 0.35)
    drawing = noisy_version(grey_pictures()["waves and a disc, drawn"], 0.1)
    restored = {
        "page": (page, hd.vision.denoise(page)),
        "grey": (drawing, hd.vision.denoise(drawing, levels="grey")),
    }
    gap = 6
    return {
        name: np.concatenate([noisy, np.ones((len(noisy), gap)), found], axis=1)
        .repeat(2, 0)
        .repeat(2, 1)
        for name, (noisy, found) in restored.items()
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, picture in before_after().items():
        write_image(FOLDER / f"{name}.png", picture)
        print(f"wrote pictures/{name}.png")
    herd = hd.Gibbs(herd=64)
    result = hd.infer(net(), herd, sweeps=20, burn_in=10, chains=4)
    field = np.random.default_rng(0).normal(size=(24, 36))
    grid = hd.infer(hd.ising_grid(field, 0.5))
    ising = hd.ising_grid(np.zeros((32, 32)), 0.4, periodic=True)
    keep = [hd.Observable(hd.energy)]
    run = hd.infer(ising, herd, sweeps=400, burn_in=100, chains=4, keep=keep)
    small = hd.infer(lawn(), herd, sweeps=100, burn_in=20, chains=4)
    pictures = {
        "lawn": small.plot(),
        "marginals": result.plot(),
        "grid": grid.plot(),
        "energy": hd.plot.series(run, "energy"),
        "graph": hd.plot.graph(result),
    }
    for name, figure in pictures.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=70, metadata={"Software": None})
        print(f"wrote pictures/{name}.png")


if __name__ == "__main__":
    main()
