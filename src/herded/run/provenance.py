"""Where a result came from: enough to get the same bits again."""

import platform
from typing import Any

import numpy as np

from herded.layouts.protocol import Layout
from herded.version import __version__

VERSIONS = {
    "herded": __version__,
    "numpy": np.__version__,
    "python": platform.python_version(),
}


def provenance(layout: Layout, method: object, **facts: Any) -> dict[str, Any]:
    """The model, the method and the tables by name, what the run took, and versions."""
    return {
        "model": layout.model.content_hash,
        "tables": layout.hash,
        "method": repr(method),
        "layout": layout.kind,
        "memory": layout.memory,
        **facts,
        "versions": dict(VERSIONS),
    }
