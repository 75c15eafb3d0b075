"""The figures of the README: every way to an answer has a time, what does not fit has none."""

from benchmarks.accuracy import readme_figures
from benchmarks.support.workloads import uneven_grid


def test_every_way_has_a_time(monkeypatch):
    monkeypatch.setattr(readme_figures, "works", lambda quick: [uneven_grid(3, 0.3)])
    monkeypatch.setattr(readme_figures, "GOAL", 1e-2)
    rows = [line for line in readme_figures.lines(quick=True) if line.startswith("| `hd")]
    names, cells = zip(*(row.strip("| ").split(" | ") for row in rows), strict=True)
    assert names == ("`hd.Gibbs()`", "`hd.Gibbs(herd=64)`", "`hd.HerdedGibbs()`", "`hd.Exact()`")
    assert all(float(cell) > 0 for cell in cells if not cell.startswith("over"))


def test_what_does_not_fit_or_is_given_up():
    assert readme_figures._cell(float("nan"), False) == "-"
    assert readme_figures._cell(float("inf"), False) == "over 4,000"
    assert (
        readme_figures._cell(0.0024, False) == "2.4" and readme_figures._cell(0.3, False) == "300"
    )
