"""The one place that imports matplotlib: figures as SVG text, drawn without a screen."""

import io
from typing import Any

from herded.errors import MethodError

GIBBS, HERDED, SHARED, OTHERS = "#2563a8", "#c4382f", "#d98a1f", ("#4d8f57", "#7d5ba6", "#6b7280")


def subplots(rows: int, columns: int, *, width: float, height: float) -> tuple[Any, Any]:
    """A figure of rows x columns axes, sized in inches."""
    try:
        import matplotlib
    except ImportError as error:
        raise MethodError(
            "expected matplotlib for figures, but it is not installed: pip install 'herded[plot]'"
        ) from error
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    style: Any = {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e5e7eb",
        "legend.frameon": False,
        "svg.fonttype": "none",  # text stays text: small, and searchable in the page
        "svg.hashsalt": "herded",  # the same figure is the same file
    }
    with plt.rc_context(style):
        return plt.subplots(rows, columns, figsize=(width, height), layout="constrained")


def svg(figure: Any) -> str:
    """The figure as an <svg> element, and close it."""
    import matplotlib.pyplot as plt

    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    document = text.getvalue()
    return document[document.index("<svg") :]
