"""A self-contained page: figures first, then the verdicts, then the numbers."""

import html
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from herded.paper.math_symbols import typeset
from herded.paper.page_style import PAGE_STYLE
from herded.paper.report import Figure, Passage, Section, Table, Verdict

MARKS = {True: ("yes", "✓", "holds"), False: ("no", "✗", "does not hold"), None: ("new", "•", "")}


def page(sections: Sequence[Section], command: str) -> str:
    """Write the whole page."""
    numbered = list(enumerate(sections, start=1))
    pictures = [part for section in sections for part in section.parts if isinstance(part, Figure)]
    first = pictures[:1]  # it opens the page
    body = "\n".join(_section(number, section, first) for number, section in numbered)
    contents = "".join(
        f'<li><a href="#part-{number}">{typeset(section.title)}</a></li>'
        for number, section in numbered
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("herded", "numpy", "numba"))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Herded Gibbs sampling, reproduced</title><style>{PAGE_STYLE}</style></head><body>
<h1>Herded Gibbs sampling, reproduced</h1>
<p class="soft">The experiments of Bornn, Chen, de Freitas, Eskelin, Fang and Welling (ICLR 2013),
repeated with herded, next to the paper's results. Herds, which are not in the paper, are added.</p>
{"".join(map(_figure, first))}
<nav aria-label="Contents"><ol>{contents}</ol></nav>
{"".join(_claims(sections))}
{body}
<footer><p>Made by <code>{html.escape(command)}</code> with {versions}, Python
{platform.python_version()}. Everything but the seconds is the same on every run.</p></footer>
</body></html>
"""


def _claims(sections: Sequence[Section]) -> Iterator[str]:
    """Yield every claim of the paper that these sections checked, with a mark."""
    found = [
        (number, verdict)
        for number, section in enumerate(sections, start=1)
        for verdict in section.verdicts
        if verdict.claim
    ]
    if found:
        yield '<h2 id="claims">What the paper claims</h2><ul class="claims">'
        for number, verdict in found:
            link = f'<a href="#part-{number}" aria-label="what was found, part {number}">↓</a>'
            yield f"<li>{_mark(verdict)} {typeset(verdict.claim)} {link}</li>"
        yield "</ul>"


def _mark(verdict: Verdict) -> str:
    kind, sign, meaning = MARKS[verdict.holds]
    named = f' role="img" aria-label="{meaning}"' if meaning else ' aria-hidden="true"'
    return f'<span class="mark {kind}"{named}>{sign}</span>'


def _section(number: int, section: Section, before: Sequence[Figure]) -> str:
    """Write one experiment, without the figures in `before`."""
    shown = [part for part in section.parts if not isinstance(part, Table) and part not in before]
    tables = [part for part in section.parts if isinstance(part, Table)]
    parts = [
        f'<section id="part-{number}"><h2>{typeset(section.title)}</h2>',
        f"<p>{typeset(section.text)}</p>",
        *(_figure(part) if isinstance(part, Figure) else _passage(part) for part in shown),
        *map(_verdict, section.verdicts),
        *map(_table, tables),
        f'<p class="soft">{section.seconds:.1f} seconds.</p></section>',
    ]
    return "\n".join(parts)


def _verdict(verdict: Verdict) -> str:
    kind = MARKS[verdict.holds][0]
    claim = f"<strong>{typeset(verdict.claim)}</strong><br>" if verdict.claim else ""
    return f'<p class="verdict {kind}">{_mark(verdict)} {claim}{typeset(verdict.text)}</p>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{typeset(str(cell))}</th>" for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{typeset(str(cell))}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    kind = "named" if any(len(str(row[0])) > 10 for row in table.rows) else "numbered"
    grid = (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(table.name)}">'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
    caption = f"<figcaption>{typeset(table.caption)}</figcaption>"
    if not table.folded:
        return f"<figure>{caption}{grid}</figure>"
    title, more = _first_sentence(table.caption)
    rest = f"<figcaption>{typeset(more)}</figcaption>" if more else ""
    return f"<details><summary>{typeset(title)}</summary><figure>{rest}{grid}</figure></details>"


def _first_sentence(text: str) -> tuple[str, str]:
    title, _, more = text.partition(". ")
    return title.rstrip(".") + ".", more


def _figure(figure: Figure) -> str:
    panels = "".join(f'<div class="picture">{panel}</div>' for panel in figure.panels)
    return (
        f'<figure><div class="panels panels-{len(figure.panels)}">{panels}</div>'
        f"<figcaption>{typeset(figure.caption)}</figcaption></figure>"
    )


def _passage(passage: Passage) -> str:
    text = "".join(
        f'<mark class="{html.escape(kind.lower())}">{html.escape(piece)}</mark>'
        if kind
        else html.escape(piece)
        for piece, kind in passage.pieces
    )
    return (
        f"<figure><blockquote>{text}</blockquote>"
        f"<figcaption>{typeset(passage.caption)}</figcaption></figure>"
    )
