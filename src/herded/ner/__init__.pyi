from herded.ner.text.corpus import (
    document_of as document_of,
    read_conll as read_conll,
    read_corpus as read_corpus,
    read_text as read_text,
)
from herded.ner.crf.linear_chain_crf import CRF as CRF
from herded.ner.crf.decoding import DECODERS as DECODERS
from herded.ner.text.documents import Document as Document, Sentence as Sentence
from herded.ner.text.ieer import read_ieer as read_ieer
from herded.ner.text.labels import spans as spans
from herded.ner.text.lexicon import Lexicon as Lexicon
from herded.ner.recogniser import Entity as Entity, Recogniser as Recogniser, load as load
from herded.ner.entity_scoring import bootstrap as bootstrap, score as score
from herded.ner.crf.skip_chain_crf import SkipCRF as SkipCRF
