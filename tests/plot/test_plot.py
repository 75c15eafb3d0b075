"""Pictures of results: something of each kind is drawn, named, and small enough to look at."""

import numpy as np
import pytest

import herded as hd
from herded.errors import NotKeptError
from herded.system.figures import svg

pytest.importorskip("matplotlib", reason="figures need matplotlib")

RNG = np.random.default_rng(2)
NET = hd.FactorGraph(
    [2, 3, 2],
    [((0, 1), RNG.normal(size=(2, 3))), ((1, 2), RNG.normal(size=(3, 2)))],
    names=["rain", "river $x$", "flood"],
    state_names=[["no", "yes"], ["low", "mid", "high"], ["no", "yes"]],
).given({"flood": "yes"})
GRID = hd.ising_grid(RNG.normal(size=(4, 6)), 0.4)
KEEP = [hd.Marginals(), hd.Samples(every=5), hd.Observable(hd.energy)]


def run(model, keep=KEEP):
    return hd.infer(model, hd.Gibbs(), sweeps=20, chains=2, keep=keep)


def drawn(figure):
    """The figure as pixels: drawing it must not fail, and must leave something on it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    figure.dpi = 40
    canvas.draw()  # `savefig` would do so twice, once for the layout
    pixels = np.asarray(canvas.buffer_rgba())
    assert 0 < (pixels < 200).mean() < 0.9
    return figure


def texts(figure):
    """What is written on it, when it is drawn."""
    import matplotlib.text

    drawn(figure)
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def test_variables_have_bars_with_their_names():
    words = texts(run(NET).plot())
    assert "rain" in words and r"river \$x\$" in words and "mid" in words
    binary = hd.FactorGraph([2, 2], [((0, 1), np.eye(2))], names=["a", "b"])
    words = texts(run(binary).plot())
    assert "a = 1" in words and "probability, red: 95 % interval" in words
    words = texts(hd.plot.marginals(run(NET), ["rain"]))
    assert "rain = yes" in words and "flood" not in words


def test_grids_are_images():
    [image] = run(GRID).plot().axes[0].images
    assert image.get_array().shape == (4, 6)
    few = hd.plot.marginals(run(hd.potts_grid(np.zeros((4, 5, 3)))))
    assert [len(axis.images) for axis in few.axes[:3]] == [1, 1, 1]
    words = texts(hd.plot.marginals(run(hd.potts_grid(np.zeros((4, 5, 7))))))
    assert "most probable state" in words and "its probability" in words


def test_many_variables_are_ranked():
    many = hd.pairwise_model(RNG.normal(size=(300, 2)), [(0, 1)], np.eye(2))
    result = run(many)
    figure = result.plot()
    assert "300 variables in this order" in texts(figure)
    [line] = figure.axes[0].lines
    assert (line.get_ydata() == np.sort(result.marginals[:, 1])).all()
    drawn(hd.plot.graph(result))
    drawn(hd.plot.samples(result))
    wide = hd.pairwise_model(RNG.normal(size=(50, 3)), [(0, 1)], np.eye(3))
    assert "probability of the most probable state" in texts(run(wide).plot())


def test_samples_series_and_curves():
    result = run(GRID)
    words = texts(hd.plot.samples(result, most=3))
    assert "chain 0, draw 3" in words and "chain 0, draw 2" in words
    assert {"rain", "flood"} <= set(texts(hd.plot.samples(run(NET))))
    assert any(word.startswith("energy: mean ") for word in texts(hd.plot.series(result)))
    with pytest.raises(NotKeptError, match="did you mean 'energy'"):
        hd.plot.series(result, "enrgy")
    keep = [hd.ErrorCurve(np.full((4, 6, 2), 0.5))]
    both = {"one": run(GRID, keep), "other": run(GRID, keep)}
    assert {"one", "other", "sweeps"} <= set(texts(hd.plot.curve(both)))
    drawn(both["one"].plot())


def test_graphs_have_names_and_rings():
    assert {"rain", "flood"} <= set(texts(hd.plot.graph(NET)))
    assert "P(1)" in texts(hd.plot.graph(run(GRID)))
    assert "probability of the most probable state" in texts(hd.plot.graph(run(NET)))
    drawn(hd.plot.graph(hd.FactorGraph([2, 2, 2], [])))


def test_what_was_kept_decides_what_is_drawn():
    assert drawn(run(GRID, [hd.Observable(hd.energy)]).plot()).axes[0].lines
    assert drawn(run(GRID, [hd.Samples(every=5)]).plot()).axes[0].images
    with pytest.raises(NotKeptError, match=r"keep=\[Marginals\(\)\]"):
        run(GRID, [hd.BestState()]).plot()


def test_notebooks_get_a_picture():
    figure = run(GRID).plot()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_an_svg_leaves_the_figure_as_it_is():
    figure = run(GRID).plot()
    before = figure.canvas, figure.dpi
    assert svg(figure).startswith("<svg")
    assert (figure.canvas, figure.dpi) == before
