"""Names in text: chain and skip-chain CRFs, sampled and decoded by the library's own methods.

    recogniser = herded.ner.load()
    recogniser.tag("Tim Roth met Amanda Plummer in Amsterdam.")

Everything is imported when first used: spaCy looks in here at every start.
"""

from typing import TYPE_CHECKING

from herded.system.lazy import attach

__getattr__, __dir__, __all__ = attach(
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
