"""The one place that imports matplotlib: figures as SVG text or PNG, drawn without a screen."""

import functools
import io
from collections.abc import Callable
from typing import Any, TypeVar

from herded.errors import MethodError

Drawn = TypeVar("Drawn")

GIBBS_COLOUR, HERDED_COLOUR, SHARED_COLOUR, OTHER_COLOURS = (
    "#2563a8",
    "#c4382f",
    "#d98a1f",
    ("#4d8f57", "#7d5ba6"),
)

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small, and searchable in the page
    "svg.hashsalt": "herded",  # the same figure is the same file
}


def with_plot_style(draw: Callable[..., Drawn]) -> Callable[..., Drawn]:
    """Run all of `draw` in the house style; some settings matter only when a figure is saved."""

    @functools.wraps(draw)
    def styled(*arguments: Any, **options: Any) -> Drawn:
        try:
            import matplotlib
        except ModuleNotFoundError as error:
            if error.name != "matplotlib":
                raise
            raise MethodError(
                "expected matplotlib for figures, but it is not installed: "
                "pip install 'herded[plot]'"
            ) from error
        with matplotlib.rc_context(STYLE):
            return draw(*arguments, **options)

    return styled


def subplots(rows: int, columns: int, *, width: float, height: float) -> tuple[Any, Any]:
    """A figure of rows x columns axes, sized in inches."""
    figure = _figure_class()(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


@functools.cache
def _figure_class() -> Any:
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows, also where nobody has told it of matplotlib."""

        def _repr_png_(self) -> bytes:
            return png(self, 110)

    return Shown


def svg(figure: Any) -> str:
    """The figure as an <svg> element."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    # Not `savefig`, which draws twice where there is a layout to be found: to find it, and again.
    canvas, dpi = figure.canvas, figure.dpi
    try:
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    finally:  # both would stay as they are for this picture
        figure.set_canvas(canvas)
        figure.set_dpi(dpi)
    document = text.getvalue()
    return document[document.index("<svg") :]


def png(figure: Any, dots_per_inch: int = 160) -> bytes:
    """The figure as the bytes of a PNG file."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=dots_per_inch, metadata={"Software": None})
    return data.getvalue()
