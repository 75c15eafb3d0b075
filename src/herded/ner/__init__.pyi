from herded.ner.corpus import (
    document_of as document_of,
    read_conll as read_conll,
    read_corpus as read_corpus,
    read_text as read_text,
)
from herded.ner.crf import CRF as CRF
from herded.ner.decoding import DECODERS as DECODERS
from herded.ner.documents import Document as Document, Sentence as Sentence
from herded.ner.ieer import read_ieer as read_ieer
from herded.ner.labels import spans as spans
from herded.ner.lexicon import Lexicon as Lexicon
from herded.ner.recogniser import Entity as Entity, Recogniser as Recogniser, load as load
from herded.ner.scoring import bootstrap as bootstrap, score as score
from herded.ner.skip_crf import SkipCRF as SkipCRF
