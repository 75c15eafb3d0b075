"""A rule-based tokenizer, which finds the words and sentences of a text.

Words are split as in the Penn Treebank (punctuation, "'s" and "n't" are words; abbreviations,
numbers, hyphenated words, @users, #tags, addresses and emoji stay whole). Sentences end at full
stops that are not part of an abbreviation, and at the ends of paragraphs: blank or indented lines.
Any text can be split, in linear time; only blanks and unprintable characters are dropped.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from herded.errors import CorpusError

CharacterSpan = tuple[int, int]  # first character, end

# After these a sentence never ends.
_TITLES = (
    "Mr Mrs Ms Messrs Mme Mlle Dr Drs Prof Rev Gen Lt Col Maj Capt Cmdr Sgt Cpl Pvt Adm Gov Sen "
    "Sens Rep Reps Pres Supt Hon Msgr Atty Asst vs v cf Ft Mt"
)
# After these it ends only if the next word surely begins another.
_ABBREVIATIONS = (
    "INC CORP CO LTD JR SR ST BROS MR MRS MS DR GEN SEN REP GOV "  # as in headlines
    "St Ste Jr Sr Esq Inc Corp Co Cos Ltd Bros Mfg Dept Univ Assn Assoc Dist Ave Blvd Rd Hwy Bldg "
    "Jan Feb Mar Apr Aug Sept Sep Oct Nov Dec Mon Tue Tues Wed Thu Thurs Fri "
    "Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Mass Md Mich Minn Mo Mont Neb Nev "
    "Okla Ore Pa Tenn Tex Va Vt Wash Wis Wyo Ont Que etc approx est dept ext Ph.D M.Sc B.Sc"
)
_BEFORE_NUMBERS = "No Nos no nos Vol vol Fig fig Art Sec Ch ch p pp Op op"
_DOMAINS = "com org net edu gov mil info biz io co ly uk de fr nl ca au jp cn ru eu"
_STARTERS = (
    "The A An This That These Those It He She They We You I His Her Their Its Our My Your In On At "
    "By For From With Without As After Before During Since While When Where Who What Why How If "
    "Although Though But And Or So Yet Nor Because However Meanwhile Also Still Then There Here "
    "Now Once Under Until Unlike Despite Many Most Some Several Each Both All Another Other Such "
    "Not No Nobody Is Are Was Were Do Does Did Has Have Had Will Would Can Could Should"
)

# Control characters and format characters: skipped like blanks, kept within words.
_UNSEEN = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
_MARKS = (  # accents and vowel signs that are written on letters, and joiners between them
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0900-\u0963\u0966-\u167f\u1681-\u1cff\u1dc0-\u1dff\u200c\u200d\xad\u2060\ufe20-\ufe2f"
)
_LETTERS = rf"[^\W_]++(?:[{_MARKS}]++[^\W_]*+)*+"
_PICTURE = r"[\u203c\u2049\u2122\u2139\u231a-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_DRESSED = rf"{_PICTURE}[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u20e3]*+"
_EMOJI = rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|{_DRESSED}(?:\u200d{_DRESSED})*+|[\d#*]\ufe0f?\u20e3)"
# An address after its beginning: punctuation that ends a clause is not part of it.
_ADDRESS = rf"""[^\s<>"{_UNSEEN}]*[^\s<>"{_UNSEEN}'\u2019\u201d.,;:!?)\]}}]"""
_APOSTROPHE = r"['\u2019]"
_CLITIC = r"(?i:s|m|d|re|ve|ll)(?!\w)"
_NOT = rf"(?i:n{_APOSTROPHE}t)(?!\w)"
_BLANK = r"[^\S\r\n\f\v\u2029]"
_NEW_LINE = rf"(?:{_BLANK}*+[\r\n\f\v\u2029]|\t|{_BLANK}{{3}})"  # or indented: a paragraph ended
_GAP = rf"(?!{_BLANK}*+(?:(?>\r\n|\n|\r){_NEW_LINE}|[\f\v\u2029]))\s"  # blanks of a paragraph


def _any_of(listed: str) -> str:
    return "|".join(map(re.escape, listed.split()))


# Alternatives are tried in order at every word, so common ones come first.
_WORD = re.compile(
    rf"""
    [A-Za-z]++(?=[ ,\n])                                            # most words
  | [,()$%] | \.(?=\s) | '' | ``
  | (?<=[\w.]){_APOSTROPHE}{_CLITIC} | (?<=\w){_NOT}                # 's, n't
  | [A-Za-z]+?(?={_NOT})                                            # does(n't)
  | (?:https?://|www\.){_ADDRESS}
  | \w[\w.+-]{{0,63}}+@(?:[\w-]{{1,63}}\.){{1,8}}\w{{2,24}}         # user@site.com
  | (?<!\w)[@\#]\w+                                                 # @user, #tag
  | (?=\w[\w-]{{0,62}}\.\w)(?:[\w-]{{1,63}}\.){{1,8}}(?:{_any_of(_DOMAINS)})(?!\w)(?:/{_ADDRESS})?
  | (?=[A-Za-z]{{1,7}}\.) (?:
        (?:[A-Za-z]\.){{2,}}(?:[A-Za-z]\b|(?!\w)|(?=[A-Z][a-z]))    # U.S., a.m., J.R.
      | [A-HJ-Z]\.(?={_GAP}++[^\W\d_]|[A-Z][a-z]|,)                 # J. Smith
      | I\.(?={_GAP}*+[A-Z]\.)                                      # but "so am I."
      | (?:{_any_of(_TITLES)}|{_any_of(_ABBREVIATIONS)})\.(?!\w)
      | (?:{_any_of(_BEFORE_NUMBERS)})\.(?={_GAP}*+\d)
    )(?:-{_LETTERS})*+                                              # U.S.-led
  | Yahoo!
  | [A-Z]{{1,4}}&[A-Z]{{1,4}}(?!\w) | &\w{{2,8}};                   # AT&T, &amp;
  | {_EMOJI}
  | {_LETTERS}(?:(?:[-_\u2010\u2011]|{_APOSTROPHE}(?!{_CLITIC}|t(?!\w))|(?<=\d)[.,:/](?=\d))
        {_LETTERS})*+                                               # cash-strapped, O'Neill, 1.5
  | (?<!\w)(?:{_APOSTROPHE}\d\ds\b|\.\d++)                          # '90s, .5
  | (?<!\S)(?:[:;=]['o-]?[()\[\]DPp|/\\]++|<3++)(?!\w)              # :-)
  | \.{{2,}}|[!?]++|-{{2,}}|_{{2,}}|={{2,}}|\*{{2,}}|~{{2,}}
  | [^\s{_UNSEEN}][{_MARKS}\ufe0e\ufe0f\u20d0-\u20ff]*+             # whatever else
    """,
    re.VERBOSE,
)

_STOPS = r".!?\u2026\u203d\u061f\u06d4\u0964"
_FULL_STOPS = r"\u3002\uff01\uff1f"  # Chinese and Japanese: no blank follows, and all end sentences
# Where a sentence may end. It begins with one set of characters, which makes searching fast.
_PAUSE = re.compile(
    rf"""
    [{_STOPS}{_FULL_STOPS}\r\n\f\v\u2029]
    (?: (?<=[{_STOPS}]) (?P<stop>[{_STOPS}]*+)
            (?:{_BLANK}*+''(?!\w)|["'\u201d\u2019\u00bb)\]}}])*+ (?:\ *+{_EMOJI})*+ (?=\s|\Z)
      | (?<=[{_FULL_STOPS}]) (?P<full_stop>[{_FULL_STOPS}]*+) [\u300d\u300f\u201d\u2019\uff09]*+
      | (?:(?<=\r)\n)?+ (?<=[\r\n]) {_NEW_LINE}
      | (?<=[\f\v\u2029])
    )
    """,
    re.VERBOSE,
)
_DASHES = "-_\u2013\u2014"
_QUOTES = '"`\u201c\u00ab'
_NEXT = re.compile(rf"(?:{_GAP}++|[{_DASHES}{_QUOTES}'\u2018(\[{{])*+(\w*+[.!?]?)")
_SURELY_FIRST = frozenset(_STARTERS.split())
_NEVER_LAST = frozenset(f"{title}." for title in _TITLES.split())


def word_spans(text: str) -> list[CharacterSpan]:
    """Find the words: in order, disjoint, and covering every printable character."""
    return [match.span() for match in _WORD.finditer(text)]


def sentences(text: str) -> list[list[CharacterSpan]]:
    """Split a text into sentences, each a list of its words."""
    spans = word_spans(text)
    found = []
    first = 0  # word of the sentence
    for pause in _PAUSE.finditer(text):
        if pause.lastgroup is None or _is_end(text, spans, first, pause):
            last = bisect_left(spans, (pause.end(),), first)
            if last > first:
                found.append(spans[first:last])
                first = last
    if first < len(spans):
        found.append(spans[first:])
    return found


def _is_end(text: str, spans: list[CharacterSpan], first: int, pause: re.Match[str]) -> bool:
    """Return whether the sentence that began at the word `first` ends at this stop."""
    stop = pause.start()
    at = bisect_left(spans, (stop + 1,), first) - 1
    start, end = spans[at]
    if end > pause.end(pause.lastgroup or 0):
        return False  # inside an address
    if pause.lastgroup == "full_stop":
        return True
    following = _NEXT.match(text, pause.end())
    assert following is not None  # it matches the empty text too
    word = following[1]
    if word[:1].islower() or word in (".", "!", "?"):  # in a row of stops the last one decides
        return False
    if start < stop and not pause["stop"]:  # the stop is part of the word
        between = set(text[pause.end() : following.start(1)])
        if not between.isdisjoint(_DASHES) or text[start:end] in _NEVER_LAST:
            return False
        return word in _SURELY_FIRST or not between.isdisjoint(_QUOTES)
    return not (at == first + 1 and text[slice(*spans[first])].isdigit())  # as in "1. First"


def text_blocks(lines: Iterable[str], limit: int = 1 << 20) -> Iterator[str]:
    """Cut a long text into blocks of at most `limit` characters, to be split one by one.

    `lines` may be pieces of any length. Blocks end with a paragraph if one does within the limit,
    else with a sentence, else with a word, else anywhere; joined again they are the whole text.
    """
    if limit < 1:
        raise CorpusError(f"expected blocks of at least 1 character, got limit={limit}")
    pieces: list[str] = []
    length = 0
    for line in lines:
        for start in range(0, len(line), limit):  # so that a block never exceeds two limits
            pieces.append(line[start : start + limit])
            length += len(pieces[-1])
            while length > limit:
                text = "".join(pieces)
                cut = _last_cut(text[:limit])
                yield text[:cut]
                pieces, length = [text[cut:]], length - cut
    if length:
        yield "".join(pieces)


def _last_cut(text: str) -> int:
    """Return where to end a block that begins like this and continues."""
    paragraphs = [m.end() for m in _PAUSE.finditer(text) if m.lastgroup is None]
    if paragraphs:
        return paragraphs[-1]
    parts = sentences(text)
    if len(parts) > 1:
        return parts[-1][0][0]
    return max(text.rfind(blank) for blank in " \n\t\r") + 1 or len(text)
