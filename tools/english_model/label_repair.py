"""Silver labels, brought closer to what people annotate.

The Groningen Meaning Bank was labelled by programs, which slip at single mentions: "Turkey" by
itself is a place 220 times there, and an organisation 104 times. What is said of most mentions of a
name is said of all; titles, "'s" and marks are cut off.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from herded.ner.text.documents import Document, Sentence
from herded.ner.text.labels import OUTSIDE, WordSpan, from_spans, spans, to_io

TITLES = frozenset((
    "admiral", "ambassador", "archbishop", "attorney", "ayatollah", "bishop", "brigadier",
    "captain", "cardinal", "chairman", "chancellor", "chief", "colonel", "congressman", "defense",
    "deputy", "dr.", "emperor", "finance", "foreign", "former", "gen.", "general", "governor",
    "interior", "judge", "justice", "king", "lady", "leader", "lieutenant", "lord", "lt.", "major",
    "mayor", "minister", "mr.", "mrs.", "ms.", "of", "opposition", "pope", "premier", "president",
    "prime", "prince", "princess", "professor", "queen", "representative", "secretary", "senator",
    "sergeant", "sheikh", "sir", "spokesman", "state", "treasury", "vice",
))  # fmt: skip
COURTESY = frozenset(("Mr.", "Mrs.", "Ms."))  # whose bearers are persons, whatever the label
POSSESSIVE = "'s"
WORDS_BETWEEN_NAMES = (POSSESSIVE, "and", ",", "/", "&")
EDGES = frozenset((*WORDS_BETWEEN_NAMES, "-", "--", '"', "``", "''", "of", "or", "'", "by", "for"))
MIN_MENTIONS = 4  # mentions that do not yet tell what is usual

# What the counts get wrong: mentions, "" for what is no name.
KNOWN_ENTITIES = {
    **dict.fromkeys((
        "Bosnia and Herzegovina", "Serbia and Montenegro", "Trinidad and Tobago", "U.S.", "US",
        "U.S.A.", "USA", "U.K.", "UK", "UAE", "West Bank",
    ), "LOCATION"),
    **dict.fromkeys((
        "African Union", "EU", "Fatah", "Shell", "Taliban", "Toyota", "U.N.", "UN",
    ), "ORGANIZATION"),
    **dict.fromkeys((
        "AIDS", "Arab", "Christian", "Christians", "Easter", "HIV", "Hindu", "Hindus", "Hutu",
        "Islam", "Islamic", "Islamist", "Jewish", "Kurdish", "Kurds", "Maoist", "Muslim",
        "Muslims", "New Year", "North Korean", "Saudi", "Saudi Arabian", "Shi'ite", "Shi'ites",
        "South African", "South Korean", "Sri Lankan", "Sunni", "Sunni Arab", "Sunnis", "Tamil",
        "Tutsi", "Western",
    ), ""),
}  # fmt: skip


class MentionStatistics:
    """How a corpus mostly labels a mention."""

    def __init__(self, documents: Iterable[Document], known: Mapping[str, str]) -> None:
        self.known = known
        self.kinds: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self.outside: Counter[str] = Counter()  # words, as often as they are no part of a name
        for document in documents:
            for sentence in document.sentences:
                labels = sentence.labels or ()
                for span in spans(labels):
                    for first, last, kind in _trim_name(sentence.words, *span):
                        self.kinds[sentence.words[first:last]][kind] += 1
                for word, kind in zip(sentence.words, to_io(labels), strict=True):
                    self.outside[word] += kind == OUTSIDE

    def usual(self, words: tuple[str, ...]) -> str | None:
        """The kind of most of its mentions ("": it is no name), or None if that is not clear."""
        known = self.known.get(" ".join(words))
        if known is not None:
            return known
        seen = self.kinds.get(words, Counter())
        if self._is_person(words, seen):
            return "PERSON"
        if seen.total() < MIN_MENTIONS:
            return None
        if len(words) == 1 and self.outside[words[0]] > seen.total():
            return ""
        kind, most = max(seen.items(), key=lambda item: (item[1], item[0]))
        return kind if 2 * most > seen.total() else None

    def _is_person(self, words: tuple[str, ...], seen: Counter[str]) -> bool:
        """Whether this is a first name, or two, before a name that mostly is a person's."""
        if not 2 <= len(words) <= 3 or not all(word[0].isupper() for word in words):
            return False
        # "Camp David" is never a person
        possible = seen["PERSON"] > 0 or seen.total() < MIN_MENTIONS
        first, last = self.usual(words[:1]), self.usual(words[-1:])
        return possible and first in (None, "PERSON") and last == "PERSON"

    def missing(self, word: str) -> str | None:
        """The kind of a word that is outside all names, if elsewhere it mostly is one."""
        if word in self.known:
            return self.known[word]
        kind = self.usual((word,)) if word[0].isupper() else None
        if not kind:
            return None
        often, outside = self.kinds[word,][kind], self.outside[word]
        enough = often > max(5, outside if kind == "LOCATION" else 3 * outside)
        return kind if enough else None


def repair_labels(
    documents: list[Document], known: Mapping[str, str] = KNOWN_ENTITIES
) -> list[Document]:
    """The same documents with one kind for a name, no name left out, and nothing else in it.

    known   kinds that names have whatever the labels say; "" for what is no name
    """
    habits = MentionStatistics(documents, known)
    return [
        replace(
            document, sentences=tuple(_repair_sentence(part, habits) for part in document.sentences)
        )
        for document in documents
    ]


def _repair_sentence(sentence: Sentence, habits: MentionStatistics) -> Sentence:
    words, labels = sentence.words, sentence.labels or ()
    found = []
    for span in spans(labels):
        for first, last, kind in _parts(words, span, habits):
            usual = habits.usual(words[first:last])
            if usual != "":
                found.append((first, last, usual or kind))
    inside = {at for first, last, _ in spans(labels) for at in range(first, last)}
    for at, word in enumerate(words):
        alone = not inside & {at - 1, at, at + 1}
        missing = habits.missing(word) if alone else None
        if missing:
            found.append((at, at + 1, missing))
    return replace(sentence, labels=tuple(from_spans(sorted(found), len(words))))


def _parts(words: tuple[str, ...], span: WordSpan, habits: MentionStatistics) -> Iterator[WordSpan]:
    """A name without its title; two names for "Sudan 's Darfur" and "Iran and Iraq"."""
    first, last, kind = span
    for at in range(first, last):
        if _is_between(words, first, at, last, habits):
            yield from _trim_name(words, first, at, kind)
            first = at + 1
    for begin, end, _ in _trim_name(words, first, last, "PERSON"):
        if habits.usual(words[begin:end]) == "PERSON":  # "General Musharraf", whatever its kind
            kind = "PERSON"
    yield from _trim_name(words, first, last, kind)


def _is_between(
    words: tuple[str, ...], first: int, at: int, last: int, habits: MentionStatistics
) -> bool:
    """Whether the word at `at` stands between two names and is no part of one."""
    if words[at] not in WORDS_BETWEEN_NAMES or " ".join(words[first:last]) in habits.known:
        return False
    before, after = habits.usual(words[first:at]), habits.usual(words[at + 1 : last])
    return before is not None and (words[at] == POSSESSIVE or after is not None)


def _trim_name(words: tuple[str, ...], first: int, last: int, kind: str) -> Iterator[WordSpan]:
    """The name without what cannot begin or end one, if anything is left."""
    if first < last and not COURTESY.isdisjoint(words[max(0, first - 1) : first + 1]):
        kind = "PERSON"
    while first < last and (
        words[first] in EDGES or (kind == "PERSON" and words[first].lower() in TITLES)
    ):
        first += 1
    while first < last and words[last - 1] in EDGES - {POSSESSIVE}:
        last -= 1
    if first < last:
        yield first, last, kind
