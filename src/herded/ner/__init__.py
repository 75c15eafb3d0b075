"""Names in text: chain and skip-chain CRFs, sampled and decoded by the library's own methods.

    recogniser = herded.ner.load()
    recogniser.tag("Tim Roth met Amanda Plummer in Amsterdam.")

Everything is imported when first used: spaCy looks in here at every start.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)
