"""Files: models, evidence and answers in the formats that other programs read and write."""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)
