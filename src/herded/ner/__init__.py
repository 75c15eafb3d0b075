"""Names in text: chain and skip-chain CRFs, sampled and decoded by the library's own methods.

    recogniser = herded.ner.load()
    recogniser.tag("Tim Roth met Amanda Plummer in Amsterdam.")

Everything is imported when first used: spaCy looks in here at every start.
"""

from typing import TYPE_CHECKING

from herded.system.lazy import attach

_find, __dir__, _names = attach(
    "herded.ner",
    {
        "herded.ner.corpus": [
            "document_of",
            "read_conll",
            "read_corpus",
            "read_ieer",
            "read_text",
        ],
        "herded.ner.crf": ["CRF"],
        "herded.ner.decoding": ["DECODERS"],
        "herded.ner.documents": ["Document", "Sentence"],
        "herded.ner.labels": ["spans"],
        "herded.ner.lexicon": ["Lexicon"],
        "herded.ner.recogniser": ["Entity", "Recogniser", "load"],
        "herded.ner.scoring": ["bootstrap", "score"],
        "herded.ner.skip_crf": ["SkipCRF"],
    },
)

if not TYPE_CHECKING:  # which would take any name for one of ours
    __getattr__, __all__ = _find, _names
else:
    from herded.ner.corpus import (
        document_of as document_of,
    )
    from herded.ner.corpus import (
        read_conll as read_conll,
    )
    from herded.ner.corpus import (
        read_corpus as read_corpus,
    )
    from herded.ner.corpus import (
        read_text as read_text,
    )
    from herded.ner.crf import CRF as CRF
    from herded.ner.decoding import DECODERS as DECODERS
    from herded.ner.documents import Document as Document
    from herded.ner.documents import Sentence as Sentence
    from herded.ner.ieer import read_ieer as read_ieer
    from herded.ner.labels import spans as spans
    from herded.ner.lexicon import Lexicon as Lexicon
    from herded.ner.recogniser import Entity as Entity
    from herded.ner.recogniser import Recogniser as Recogniser
    from herded.ner.recogniser import load as load
    from herded.ner.scoring import bootstrap as bootstrap
    from herded.ner.scoring import score as score
    from herded.ner.skip_crf import SkipCRF as SkipCRF
