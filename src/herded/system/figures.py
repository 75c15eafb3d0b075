"""The only module that imports matplotlib: figures as SVG text or PNG, without a display."""

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

GREY = "#9ca3af"
PLOT_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small files, searchable pages
    "svg.hashsalt": "herded",  # the same figure gives the same file
}


def with_plot_style(draw: Callable[..., Drawn]) -> Callable[..., Drawn]:
    """Run all of `draw` in the house style, since some settings take effect only on saving."""

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
        with matplotlib.rc_context(PLOT_STYLE):
            return draw(*arguments, **options)

    return styled


def subplots(rows: int, columns: int, *, width: float, height: float) -> tuple[Any, Any]:
    """Create a figure with rows x columns axes, sized in inches."""
    figure = _figure_class()(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


@functools.cache
def _figure_class() -> Any:
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook displays even without matplotlib's integration."""

        def _repr_png_(self) -> bytes:
            return png(self, 110)

    return Shown


def svg(figure: Any) -> str:
    """Render the figure as an <svg> element."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    # Not `savefig`, which draws twice if there is a layout to compute.
    canvas, dpi = figure.canvas, figure.dpi
    try:
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    finally:  # both settings would otherwise persist
        figure.set_canvas(canvas)
        figure.set_dpi(dpi)
    document = text.getvalue()
    return document[document.index("<svg") :]


def png(figure: Any, dots_per_inch: int = 160) -> bytes:
    """Render the figure as the bytes of a PNG file."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=dots_per_inch, metadata={"Software": None})
    return data.getvalue()
