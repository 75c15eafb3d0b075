"""Names in text: chain and skip-chain CRFs, sampled and decoded by the library's own methods.

    recogniser = herded.ner.load()
    recogniser.tag("Tim Roth met Amanda Plummer in Amsterdam.")

`text` splits text into words and reads corpora, and `crf` has the models, their training and their
decoders. `recogniser.py` combines them, `training.py` trains models on the user's corpora,
`entity_scoring.py` scores entities, `rendering.py` marks them in text, and `spacy_component.py` is
a component of spaCy pipelines. Start reading at `recogniser.py`.

Everything is imported on first use, since spaCy imports this package at every start.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)
