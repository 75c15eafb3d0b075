"""Names in text: chain and skip-chain CRFs, sampled and decoded by the library's own methods.

    recogniser = herded.ner.load()
    recogniser.tag("Tim Roth met Amanda Plummer in Amsterdam.")

Everything is imported when first used: spaCy looks in here at every start.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "corpus": ["document_of", "read_conll", "read_corpus", "read_ieer", "read_text"],
    "crf": ["CRF"],
    "decoding": ["DECODERS"],
    "documents": ["Document", "Sentence"],
    "labels": ["spans"],
    "lexicon": ["Lexicon"],
    "recogniser": ["Entity", "Recogniser", "load"],
    "scoring": ["bootstrap", "score"],
    "skip_crf": ["SkipCRF"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'herded.ner' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"herded.ner.{_HOME_OF[name]}"), name)
    globals()[name] = value  # also where a module has that name: importing it set the module
    return value


def __dir__() -> list[str]:
    return list(__all__)


if TYPE_CHECKING:
    from herded.ner.corpus import document_of, read_conll, read_corpus, read_ieer, read_text
    from herded.ner.crf import CRF
    from herded.ner.decoding import DECODERS
    from herded.ner.documents import Document, Sentence
    from herded.ner.labels import spans
    from herded.ner.lexicon import Lexicon
    from herded.ner.recogniser import Entity, Recogniser, load
    from herded.ner.scoring import bootstrap, score
    from herded.ner.skip_crf import SkipCRF
