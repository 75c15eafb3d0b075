"""Deterministic inference for discrete graphical models: herded Gibbs sampling, made practical.

A model (`models`, or read by `io`) and a method (`methods`) go into `hd.infer` (`run`), which gives
a `Result`. A sampling method combines a move (`moves`), a draw (`draws`) and a layout (`layouts`),
which is the model as it lies in memory. On top of `run` stand learning (`learn`), pictures
(`vision`), names in text (`ner`), quadratic problems (`qubo`), huge lattices (`tiled`), the paper's
theory (`theory`), its experiments (`paper`), the live page (`live`) and the command line (`cli`).

Start reading at `run/infer.py` to follow a call, or at `methods/herded_gibbs.py` for the algorithm.
Layers import downwards only: see [tool.importlinter] in pyproject.toml.

All public names are here and are imported when they are first used: `import herded` loads no numpy.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)
