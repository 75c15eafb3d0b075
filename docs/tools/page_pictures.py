"""python -m docs.tools.page_pictures: pictures of the pages tutorial, results and pictures."""

import numpy as np

import herded as hd
from docs.tools import refresh_pages
from docs.tools.page_files import DOCS, page_files
from herded.io.images import read_image, write_image

FOLDER = DOCS / "pictures"


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


def page_of_text() -> np.ndarray:
    """What the first commands of the page on pictures write: noisy text, and restored."""
    page = page_files()["pictures"].read_text(encoding="utf-8")
    block = refresh_pages.BLOCK.search(page)
    assert block is not None
    with refresh_pages.command_folder() as folder:
        for command in refresh_pages.commands(block["text"]):
            refresh_pages.run(command.typed, folder, False)
        return read_image(folder / "work" / "restored-before-after.png")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    write_image(FOLDER / "page.png", page_of_text().repeat(2, 0).repeat(2, 1))
    print("wrote pictures/page.png")
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
