"""Texts with names marked: nothing lost, nothing that steers a terminal, and no form breaks."""

import io
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from herded.ner import rendering
from herded.ner.text.corpus import read_conll
from herded.ner.text.tokenizer import sentences

KINDS = ("PERSON", "LOCATION", "ORGANIZATION", "MISC")
STEERING = {
    chr(code)
    for code in [*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
} - {"\n", "\t", "\r"}
HALVES = re.compile("[\ud800-\udfff]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Entity:
    start: int
    end: int
    kind: str
    text: str
    probability: float = 0.5


def entity(text, part, kind, probability=0.5):
    start = text.index(part)
    return Entity(start, start + len(part), kind, part, probability)


TEXT = "Tim Roth met Amanda Plummer in\nAmsterdam & <Paris>.\n"
ENTITIES = [
    entity(TEXT, "Tim Roth", "PERSON", 0.98765432),
    entity(TEXT, "Amanda Plummer", "PERSON"),
    entity(TEXT, "Amsterdam", "LOCATION"),
]


def joined(pieces):
    return "".join(pieces)


def is_safe(text):
    """Whether a terminal shows this text and does nothing else, and UTF-8 can say it."""
    return (
        STEERING.isdisjoint(text) and not re.search(r"\r(?!\n)", text) and not HALVES.search(text)
    )


@st.composite
def blocks(draw):
    """A text in blocks, in each some runs of words of a sentence marked."""
    characters = st.one_of(
        st.sampled_from(
            "ab AB.\n\r\t\0\x07\x1b[\x9b\x7f\x85&<>\"'\\]\u2028\u202e\u2067\U0001f600é"
        ),
        st.characters(exclude_categories=["Co"]),
    )
    found = []
    for text in draw(st.lists(st.text(characters, max_size=60), max_size=3)):
        marked = []
        for part in sentences(text):
            at = 0
            while at < len(part):
                length = draw(st.integers(0, 2))
                if length:
                    start, end = part[at][0], part[min(at + length, len(part)) - 1][1]
                    kind = draw(st.sampled_from([*KINDS, "<b>\x1b\ud800"]))
                    marked.append(Entity(start, end, kind, text[start:end]))
                at += length or 1
        found.append((text, marked))
    return found


# Brackets


def test_brackets():
    assert joined(rendering.bracket_entities([(TEXT, ENTITIES)])) == (
        "[PERSON Tim Roth] met [PERSON Amanda Plummer] in\n[LOCATION Amsterdam] & <Paris>.\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("no end", "no end\n"),
        ("one\r\ntwo\tthree\n", "one\r\ntwo\tthree\n"),
        ("a\rb", "a\\x0db\n"),
        (
            "\x1b[31mred\x1b[0m \x9b2J\x07\0\x7f\x85",
            "\\x1b[31mred\\x1b[0m \\x9b2J\\x07\\x00\\x7f\\x85\n",
        ),
        ("\u202eabc\u2069", "\\u202eabc\\u2069\n"),
        ("\ud800", "\\ud800\n"),
        ("👩‍👩‍👧 naïve 東京 שלום\u200f", "👩‍👩‍👧 naïve 東京 שלום\u200f\n"),
    ],
)
def test_what_steers_a_terminal_is_escaped_and_nothing_else(text, shown):
    assert joined(rendering.bracket_entities([(text, [])])) == shown


@given(blocks())
def test_brackets_lose_nothing(parts):
    out = joined(rendering.bracket_entities(parts))
    expected = joined(naive_marked(*part, "[{} ", "]") for part in parts)
    assert out == (expected if expected.endswith("\n") or not expected else expected + "\n")
    assert is_safe(out)


def naive_visible(text):
    shown = ""
    for at, character in enumerate(text):
        if character in STEERING or (character == "\r" and text[at + 1 : at + 2] != "\n"):
            character = ascii(character)[1:-1].replace("\\r", "\\x0d")
            character = character.replace("\\u00", "\\x")
        shown += f"\\u{ord(character):04x}" if HALVES.match(character) else character
    return shown


def naive_marked(text, marked, before, after):
    """Marks put in from the last to the first, as characters the text does not have."""
    for number, each in reversed(list(enumerate(marked))):
        inside = f"\ue000{number}\ue001{text[each.start : each.end]}\ue002"
        text = text[: each.start] + inside + text[each.end :]
    shown = naive_visible(text).replace("\ue002", after)
    for number, each in enumerate(marked):
        shown = shown.replace(f"\ue000{number}\ue001", before.format(naive_visible(each.kind)))
    return shown


# Colours


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return Terminal()


@pytest.mark.parametrize(
    ("names", "colours"),
    [
        ({}, "256"),
        ({"TERM": "xterm"}, "standard"),
        ({"COLORTERM": "truecolor"}, "truecolor"),
        ({"NO_COLOR": "1"}, None),
        ({"TERM": "dumb"}, None),
    ],
)
def test_colours_of_terminals(names, colours, terminal, monkeypatch):
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert rendering.colours_of(terminal) == colours
    assert rendering.colours_of(io.StringIO()) is None


@pytest.mark.parametrize("colours", ["standard", "256", "truecolor"])
def test_each_kind_has_a_colour_and_the_legend_counts(colours):
    out = joined(rendering.colour_entities([(TEXT, ENTITIES)], KINDS, colours))
    body, legend = out[:-1].split("\n\n")
    assert COLOURS.sub("", body) == TEXT[:-1]
    assert COLOURS.sub("", legend) == "PERSON 2  LOCATION 1  ORGANIZATION 0  MISC 0"
    codes = [COLOURS.match(part)[0] for part in legend.split("  ")]
    assert len(set(codes)) == len(KINDS)
    assert f"{codes[0]}Tim Roth\x1b[0m met {codes[0]}Amanda Plummer\x1b[0m in" in body
    assert f"{codes[1]}Amsterdam\x1b[0m &" in body


def test_a_colour_does_not_run_on_past_its_line():
    text = "in New\nYork"
    marked = [entity(text, "New\nYork", "LOCATION")]
    out = joined(rendering.colour_entities([(text, marked)], ["LOCATION"], "standard"))
    for line in out.split("\n"):
        assert line.count("\x1b[30") == line.count("\x1b[0m")
    assert COLOURS.sub("", out) == "in New\nYork\n\nLOCATION 1\n"


@given(blocks())
def test_colours_lose_nothing(parts):
    out = joined(rendering.colour_entities(parts, KINDS, "256"))
    shown = COLOURS.sub("", out)
    text = joined(naive_marked(*part, "", "") for part in parts)
    assert is_safe(shown) and shown.startswith(text)
    assert re.fullmatch(r"\n?\nPERSON \d+  .*\n", shown[len(text) :])
    total = sum(len(marked) for _, marked in parts)
    assert sum(map(int, re.findall(r" (\d+)(?=  |\n)", shown[len(text) :]))) == total


# JSON lines


def test_json_lines():
    lines = joined(rendering.json_lines([(TEXT, ENTITIES)], "film")).splitlines()
    assert json.loads(lines[0]) == {
        "document": "film",
        "start": 0,
        "end": 8,
        "kind": "PERSON",
        "text": "Tim Roth",
        "probability": 0.987654,
    }
    assert len(lines) == 3 and joined(rendering.json_lines([("", [])], "x")) == ""


@given(blocks(), st.text())
def test_json_lines_have_offsets_in_the_whole_text(parts, name):
    out = joined(rendering.json_lines(parts, name))
    whole = joined(text for text, _ in parts)
    assert is_safe(out)
    values = [json.loads(line) for line in out.splitlines()]  # which also splits at "\u2028"
    marked = [each for _, marked in parts for each in marked]
    assert len(values) == len(marked)
    for value, each in zip(values, marked, strict=True):
        assert whole[value["start"] : value["end"]] == value["text"] == each.text
        assert (value["document"], value["kind"]) == (name, each.kind)


def test_json_is_readable_in_other_alphabets():
    text = "In Zürich 東京"
    assert "Zürich" in joined(
        rendering.json_lines([(text, [entity(text, "Zürich", "LOCATION")])], "x")
    )


# Pages


class Page(HTMLParser):
    """Of a page the text in its <div>, the marks there, and tags that are not closed."""

    def __init__(self, source):
        super().__init__()
        self.open, self.text, self.marks, self.legend, self.title = [], "", [], [], ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        assert not {"src", "href", "onclick"} & values.keys()
        if tag != "meta":
            self.open.append(tag)
        if tag == "mark" and "div" in self.open:
            self.marks.append((values["data-kind"], len(self.text), values.get("class")))
        elif tag == "mark":
            self.legend.append(values["class"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "div" in self.open:
            self.text += data
        if "title" in self.open:
            self.title += data


def test_a_page():
    out = joined(rendering.html_page([(TEXT, ENTITIES)], KINDS, "<film>"))
    page = Page(out)
    assert page.open == [] and page.text == TEXT and page.title == "<film>"
    assert [kind for kind, _, _ in page.marks] == ["PERSON", "PERSON", "LOCATION"]
    assert page.marks[0][2] == page.marks[1][2] != page.marks[2][2]
    assert len(set(page.legend)) == len(KINDS)
    assert out.startswith("<!doctype html>") and "prefers-color-scheme: dark" in out
    assert 'title="probability 0.988"' in out


def test_a_page_of_nothing():
    assert Page(joined(rendering.html_page([], KINDS, ""))).text == ""


@given(blocks(), st.text())
@example([("<script>alert(1)</script>", [])], "</title><script>")
@example([("a\r\nb & c &amp; \"d\" 'e'", [])], "&lt;")
def test_pages_lose_nothing(parts, title):
    out = joined(rendering.html_page(parts, KINDS, title))
    page = Page(out)
    assert is_safe(out) and page.open == []
    assert page.title == naive_visible(title)
    assert page.text == joined(naive_marked(*part, "", "") for part in parts)
    marked = [each for _, marked in parts for each in marked]
    assert [kind for kind, _, _ in page.marks] == [naive_visible(each.kind) for each in marked]


def test_more_kinds_than_colours():
    kinds = [f"KIND{i}" for i in range(20)]
    text = "a b"
    marked = [entity(text, "a", "KIND19"), entity(text, "b", "NEVER HEARD OF")]
    page = Page(joined(rendering.html_page([(text, marked)], kinds, "many")))
    assert page.marks[0][2] in page.legend and page.marks[1][2] is None
    out = joined(rendering.colour_entities([(text, marked)], kinds, "256"))
    assert COLOURS.sub("", out).endswith("KIND19 1  NEVER HEARD OF 1\n")


# Columns


def test_columns():
    text = "Tim Roth ran. Amsterdam New York"
    marked = [
        entity(text, "Tim Roth", "PERSON"),
        entity(text, "Amsterdam", "LOCATION"),
        entity(text, "New York", "LOCATION"),
    ]
    assert joined(rendering.conll_columns([(text, marked)])) == (
        "Tim\tB-PERSON\nRoth\tI-PERSON\nran\tO\n.\tO\n\n"
        "Amsterdam\tB-LOCATION\nNew\tB-LOCATION\nYork\tI-LOCATION\n\n"
    )


def test_columns_are_read_again(tmp_path):
    path = tmp_path / "film.conll"
    path.write_text(
        joined(rendering.conll_columns([(TEXT, ENTITIES), ("Uma ran", [])])), encoding="utf-8"
    )
    (document,) = read_conll(path)
    assert document.sentences[0].words[:2] == ("Tim", "Roth")
    assert document.sentences[0].labels[:3] == ("B-PERSON", "I-PERSON", "O")
    assert document.sentences[1].words == ("Uma", "ran")


@given(blocks())
def test_columns_have_every_word(parts):
    parts = [(HALVES.sub("?", text), []) for text, _ in parts]
    out = joined(rendering.conll_columns(parts))
    words = [
        text[start:end] for text, _ in parts for part in sentences(text) for start, end in part
    ]
    assert is_safe(out) and [line.split("\t")[0] for line in out.split("\n") if line] == words
    assert out.count("\n\n") == sum(len(sentences(text)) for text, _ in parts)


@given(blocks())
def test_columns_have_every_entity(parts):
    labels = [
        line.split("\t")[1] for line in joined(rendering.conll_columns(parts)).split("\n") if line
    ]
    expected = []
    for text, marked in parts:
        for start, _ in (span for part in sentences(text) for span in part):
            covering = [each for each in marked if each.start <= start < each.end]
            first = "B" if covering and covering[0].start == start else "I"
            expected.append(f"{first}-{covering[0].kind}" if covering else "O")
    assert labels == expected
