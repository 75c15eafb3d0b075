"""Text with marked names: in colours, in brackets, as JSON lines, as a page, as columns.

All functions take the text in blocks, each with its entities, and yield pieces to be written in
order, so a text of any length needs the memory of one block. Text between the entities is kept,
except that characters which control a terminal are written as escapes.
"""

import html
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from herded.ner.text.labels import OUTSIDE
from herded.ner.text.tokenizer import sentences

if TYPE_CHECKING:
    from herded.ner.recogniser import Entity

Block = tuple[str, "Sequence[Entity]"]  # a part of the text; offsets count from its beginning

# Control characters, marks that change the direction of writing, and halves of characters.
_STEERING = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(rf"[{_STEERING}]|\r(?!\n)")
_UNSAFE_IN_JSON = re.compile(
    rf"[{_STEERING}\u2028\u2029]"
)  # also characters that some programs take as line ends

# The marker of each kind on a terminal, and on a light and a dark page.
_MARKERS = (
    ("bright_yellow", "#fde68a", "#713f12"),
    ("bright_green", "#bbf7d0", "#14532d"),
    ("bright_cyan", "#bae6fd", "#0c4a6e"),
    ("bright_magenta", "#f5d0fe", "#701a75"),
    ("bright_red", "#fecaca", "#7f1d1d"),
    ("white", "#e2e8f0", "#475569"),
)
_OWN_MARKERS = {"PERSON": 0, "LOCATION": 1, "ORGANIZATION": 2}  # the others share the rest

_INK = "#1f2937"  # on light backgrounds
_STYLE = """
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 46rem; background: var(--page);
  color: var(--ink); font: 1rem/1.9 system-ui, sans-serif; }
h1 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.legend { margin: 0 0 1.5rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
mark { color: inherit; background: var(--marker, var(--page)); padding: .1em .3em;
  border-radius: .3em; box-decoration-break: clone; -webkit-box-decoration-break: clone;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.text mark::after { content: attr(data-kind); margin-left: .4em; font-size: .65em;
  letter-spacing: .03em; color: var(--soft); }
"""


def bracket_entities(blocks: Iterable[Block]) -> Iterator[str]:
    """Mark names in plain text: "[PERSON Tim Roth]". Ends with a new line."""
    return _lines(
        visible(piece) if entity is None else f"[{visible(entity.kind)} {visible(piece)}]"
        for text, entities in blocks
        for piece, entity in _pieces(text, entities)
    )


def colour_entities(blocks: Iterable[Block], kinds: Sequence[str], colours: str) -> Iterator[str]:
    """Mark names for a terminal with these `colours`, and count each kind at the end.

    Few colours ("standard") are named, and each terminal shows them differently; otherwise ("256",
    "truecolor") they are those of the page.
    """
    from rich.console import COLOR_SYSTEMS
    from rich.style import Style

    numbers = _marker_numbers(kinds)
    named = colours == "standard"
    markers = [f"black on {m[0]}" if named else f"{_INK} on {m[1]}" for m in _MARKERS]
    styles = {kind: Style.parse(markers[numbers[kind]]) for kind in kinds}
    system = COLOR_SYSTEMS[colours]
    plain = Style(reverse=True)
    count: Counter[str] = Counter()

    def marked(text: str, kind: str) -> str:
        style = styles.get(kind, plain)
        # Line by line, since a marker would extend to the end of the terminal's line.
        return "\n".join(style.render(line, color_system=system) for line in text.split("\n"))

    def pieces() -> Iterator[str]:
        for text, entities in blocks:
            for piece, entity in _pieces(text, entities):
                if entity is None:
                    yield visible(piece)
                else:
                    count[entity.kind] += 1
                    yield marked(visible(piece), entity.kind)

    yield from _lines(pieces())
    names = dict.fromkeys([*kinds, *count])
    yield "\n" + "  ".join(f"{marked(visible(kind), kind)} {count[kind]}" for kind in names) + "\n"


def colours_of(file: TextIO) -> str | None:
    """Return the colours that the file supports; None without a terminal or with NO_COLOR."""
    from rich.console import Console

    console = Console(file=file)
    return None if console.no_color or console.legacy_windows else console.color_system


def json_lines(blocks: Iterable[Block], document: str) -> Iterator[str]:
    """Write an object for each entity on a line; offsets count characters of the whole text."""
    offset = 0
    for text, entities in blocks:
        for entity in entities:
            values = {
                "document": document,
                "start": entity.start + offset,
                "end": entity.end + offset,
                "kind": entity.kind,
                "text": entity.text,
                "probability": round(entity.probability, 6),
            }
            line = json.dumps(values, ensure_ascii=False)
            yield _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"
        offset += len(text)


def html_page(blocks: Iterable[Block], kinds: Sequence[str], title: str) -> Iterator[str]:
    """Write one self-contained HTML page."""
    numbers = _marker_numbers(kinds)
    name = _escape_text(title)
    yield (
        f'<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{name}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}{_colours_style()}</style>\n</head>\n<body>\n<h1>{name}</h1>\n"
    )
    legend = " ".join(
        f'<mark class="m{numbers[kind]}">{_escape_text(kind)}</mark>' for kind in kinds
    )
    yield f'<p class="legend">{legend}</p>\n<div class="text" dir="auto">'
    for text, entities in blocks:
        for piece, entity in _pieces(text, entities):
            if entity is None:
                yield _escape_text(piece)
            else:
                marker = f' class="m{numbers[entity.kind]}"' if entity.kind in numbers else ""
                yield (
                    f'<mark{marker} data-kind="{_escape_text(entity.kind)}" '
                    f'title="probability {entity.probability:.3f}">{_escape_text(piece)}</mark>'
                )
    yield "</div>\n</body>\n</html>\n"


def conll_columns(blocks: Iterable[Block]) -> Iterator[str]:
    """Write a word, a tab and its BIO label per line, and a blank line after each sentence."""
    for text, entities in blocks:
        starts = [entity.start for entity in entities]
        for spans in sentences(text):
            for start, end in spans:
                at = bisect_right(starts, start) - 1
                label = OUTSIDE
                if at >= 0 and start < entities[at].end:
                    label = f"{'B' if start == starts[at] else 'I'}-{entities[at].kind}"
                yield f"{text[start:end]}\t{label}\n"
            yield "\n"


def visible(text: str) -> str:
    r"""Escape characters that control a terminal: "\x1b"."""
    return _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _escape_text(text: str) -> str:
    return html.escape(visible(text))


def _pieces(text: str, entities: "Sequence[Entity]") -> "Iterator[tuple[str, Entity | None]]":
    """Split the text into pieces between entities and pieces with their entity."""
    at = 0
    for entity in entities:
        yield text[at : entity.start], None
        yield text[entity.start : entity.end], entity
        at = entity.end
    yield text[at:], None


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces, and a new line if the last one has none."""
    last = "\n"
    for piece in pieces:
        if piece:
            yield piece
            last = piece
    if not last.endswith("\n"):
        yield "\n"


def _marker_numbers(kinds: Sequence[str]) -> dict[str, int]:
    """Number the marker of each kind; kinds beyond the sixth share markers."""
    shared = len(_MARKERS) - len(_OWN_MARKERS)
    others = [kind for kind in kinds if kind not in _OWN_MARKERS]
    return _OWN_MARKERS | {kind: 3 + i % shared for i, kind in enumerate(others)}


def _colours_style() -> str:
    """Return the page's colours for light and dark mode."""
    light = " ".join(f".m{i} {{ --marker: {m[1]}; }}" for i, m in enumerate(_MARKERS))
    dark = " ".join(f".m{i} {{ --marker: {m[2]}; }}" for i, m in enumerate(_MARKERS))
    return (
        f":root {{ color-scheme: light dark; --ink: {_INK}; --soft: #4b5563; --page: #fff; }}\n"
        f"{light}\n@media (prefers-color-scheme: dark) {{\n"
        f"  :root {{ --ink: #e5e7eb; --soft: #d1d5db; --page: #111827; }}\n  {dark}\n}}\n"
    )
