"""Bayes nets in XMLBIF 0.3, the Interchange Format as XML, which Weka and others write.

In a table the variable itself varies fastest and its first parent slowest. Entities are refused,
so that a small file cannot expand to a large one and no other file is ever read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NoReturn
from xml.parsers import expat

from herded.errors import FileError, ModelError
from herded.io.bayes_net_tables import NetFile, ParsedTable, to_bayes_net_tables
from herded.io.number_parser import parse_floats
from herded.models.factor_graph import FactorGraph
from herded.nets.bayes_net import BayesNet
from herded.system.atomic_files import FilePath, read_bytes, write_bytes
from herded.system.memory_limits import Size

MAX_DEPTH = 8  # tables are at depth 4
PARSING_EXPANSION = 80  # bytes of memory per byte of a file made of tags alone
UNWRITABLE_XML_PATTERN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]|^\s|\s$")


def read_xmlbif(path: FilePath, *, max_memory: Size | None = None) -> BayesNet:
    """Read a Bayes net from an XMLBIF 0.3 file, the format of Weka and others.

    Parameters
    ----------
    path : path-like
        The file, gzipped or not. Entities are refused.
    max_memory : int, float or str, optional
        The most memory that reading may take, in bytes or as "2G"; by default half of what is free.

    Returns
    -------
    BayesNet
        With the names of variables and states. The factor of a variable is over its parents and,
        last, the variable itself.

    Raises
    ------
    FileError, MemoryLimitError
        As for `read_bif`.

    Examples
    --------
    >>> rain, wet = np.log([0.8, 0.2]), np.log([[0.9, 0.1], [0.3, 0.7]])
    >>> net = hd.FactorGraph(
    ...     [2, 2], [((0,), rain), ((0, 1), wet)],
    ...     names=["rain", "wet"], state_names=[["no", "yes"]] * 2,
    ... )
    >>> hd.io.write_xmlbif(net, "weather.xmlbif")
    >>> model = hd.io.read_xmlbif("weather.xmlbif")
    >>> model.names
    ('rain', 'wet')
    """
    root = _parse(path, read_bytes(path, max_memory, PARSING_EXPANSION))
    net = NetFile(path, lambda line: line)
    if root.tag != "BIF":
        raise net.wrong(root.line, "<BIF>", f"<{root.tag}>", "use a file in XMLBIF 0.3")
    network = _only(net, root, "NETWORK")
    definitions = []
    for part in network.parts:
        if part.tag == "VARIABLE":
            _read_variable(net, part)
        elif part.tag == "DEFINITION":
            definitions.append(part)
        elif part.tag not in ("NAME", "PROPERTY"):
            raise net.wrong(part.line, "VARIABLE or DEFINITION", f"<{part.tag}>", "drop it")
    return net.net([_read_definition(net, part) for part in definitions])


def write_xmlbif(model: FactorGraph, path: FilePath) -> None:
    """Write a Bayes net as XMLBIF 0.3.

    A model that `read_xmlbif` read is written so that it reads back the same, bit for bit.

    Parameters
    ----------
    model : FactorGraph
        A Bayes net; `write_bif` says which models are refused.
    path : path-like
        The file appears only when it is complete.

    Examples
    --------
    >>> rain, wet = np.log([0.8, 0.2]), np.log([[0.9, 0.1], [0.3, 0.7]])
    >>> net = hd.FactorGraph(
    ...     [2, 2], [((0,), rain), ((0, 1), wet)],
    ...     names=["rain", "wet"], state_names=[["no", "yes"]] * 2,
    ... )
    >>> hd.io.write_xmlbif(net, "weather.xmlbif")
    >>> from pathlib import Path
    >>> Path("weather.xmlbif").read_text().splitlines()[0]
    '<?xml version="1.0" encoding="UTF-8"?>'
    """
    states, conditionals = to_bayes_net_tables(model)
    write_bytes(path, [block.encode() for block in _xmlbif_parts(states, conditionals)])


# -- reading -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Element:
    tag: str
    line: int
    kind: str = ""  # the attribute TYPE
    words: list[str] = field(default_factory=list)
    parts: list["_Element"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.words).strip()

    def texts(self, tag: str) -> list[str]:
        """Return the texts of all child elements with this tag."""
        return [part.text for part in self.parts if part.tag == tag]


def _parse(path: FilePath, text: bytes) -> _Element:
    """Parse a file into a tree."""
    parser = expat.ParserCreate()
    top = _Element("", 0)
    open_elements = [top]

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MAX_DEPTH:
            raise FileError(
                f"expected elements nested at most {MAX_DEPTH} deep, got deeper ones in line "
                f"{parser.CurrentLineNumber} of {path}: use another file"
            )
        kind = {name.upper(): value for name, value in attributes.items()}.get("TYPE", "")
        element = _Element(tag.upper(), parser.CurrentLineNumber, kind)
        open_elements[-1].parts.append(element)
        open_elements.append(element)

    def refuse(*_: object) -> NoReturn:
        raise FileError(
            f"expected no entities, got one in line {parser.CurrentLineNumber} of {path}: write "
            "out its text"
        )

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.CharacterDataHandler = lambda words: open_elements[-1].words.append(words)
    parser.EntityDeclHandler = refuse
    parser.SkippedEntityHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text, True)
    except FileError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        line = getattr(error, "lineno", parser.CurrentLineNumber)
        raise FileError(
            f"expected XML, got something else ({error}) in line {line} of {path}: use another "
            "file, or read_model"
        ) from error
    return top.parts[0]


def _only(net: NetFile, element: _Element, tag: str) -> _Element:
    """Return the one child element with this tag."""
    found = [part for part in element.parts if part.tag == tag]
    if len(found) != 1:
        raise net.wrong(
            element.line, f"one <{tag}> in <{element.tag}>", str(len(found)), "correct the file"
        )
    return found[0]


def _read_variable(net: NetFile, element: _Element) -> None:
    name = _only(net, element, "NAME").text
    if element.kind not in ("", "nature"):
        raise net.wrong(
            element.line, f"{name!r} of type nature", element.kind, "herded has no decision nodes"
        )
    net.declare(name, element.texts("OUTCOME"), element.line)


def _read_definition(net: NetFile, element: _Element) -> ParsedTable:
    child = _only(net, element, "FOR").text
    parents = tuple(element.texts("GIVEN"))
    table = _only(net, element, "TABLE")
    n_rows, k = net.shape(child, parents, element.line)
    values = parse_floats(table.text.encode())
    if values is None:
        raise net.wrong(
            table.line, f"numbers in the table of {child!r}", "other words", "correct them"
        )
    if len(values) != n_rows * k:
        raise net.wrong(
            table.line,
            f"{n_rows * k} numbers in the table of {child!r}",
            str(len(values)),
            "correct the table, or the outcomes",
        )
    return ParsedTable(child, parents, values.reshape(n_rows, k), element.line)


# -- writing -----------------------------------------------------------------------------------


def _xmlbif_parts(
    states: dict[str, tuple[str, ...]], conditionals: Sequence[ParsedTable]
) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'
    yield _element("NAME", "unknown") + "\n"
    for name, of_name in states.items():
        outcomes = "".join(f"  {_element('OUTCOME', state)}\n" for state in of_name)
        yield f'<VARIABLE TYPE="nature">\n  {_element("NAME", name)}\n{outcomes}</VARIABLE>\n'
    for conditional in conditionals:
        yield f"<DEFINITION>\n  {_element('FOR', conditional.child)}\n"
        for parent in conditional.parents:
            yield f"  {_element('GIVEN', parent)}\n"
        rows = "\n    ".join(" ".join(map(repr, row)) for row in conditional.rows.tolist())
        yield f"  <TABLE>\n    {rows}\n  </TABLE>\n</DEFINITION>\n"
    yield "</NETWORK>\n</BIF>\n"


def _element(tag: str, text: str) -> str:
    if UNWRITABLE_XML_PATTERN.search(text):
        raise ModelError(
            f"expected names without control characters or spaces at their ends in an XMLBIF "
            f"file, got {text!r}: rename it"
        )
    return f"<{tag}>{escape(text, quote=False)}</{tag}>"
