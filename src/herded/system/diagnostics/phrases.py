"""Text that names options: in the keywords of Python, or in the options of a command."""

from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter

# The option of a command for a keyword of Python, such as "--max-memory"; None if it has none.
FlagOf = Callable[[str], str | None]


@dataclass(frozen=True)
class Term:
    """Options, as Python writes them and as a command does.

    Attributes
    ----------
    python : str
    command : str
        With the keyword of every option in braces, in whose place the command writes its own.

    Examples
    --------
    >>> from herded.system.diagnostics.phrases import Term
    >>> term = Term("chains=4", "{chains} 4")
    >>> term.render(), term.render(lambda keyword: f"--{keyword}"), term.keywords
    ('chains=4', '--chains 4', ('chains',))
    """

    python: str
    command: str

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of Python that stand in the command."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.command) if name)

    def is_known(self, flag_of: FlagOf | None) -> bool:
        """Whether a command has all of the options; Python (None) does."""
        return flag_of is None or all(flag_of(keyword) for keyword in self.keywords)

    def render(self, flag_of: FlagOf | None = None) -> str:
        """The text for a command, or for Python where it has none of the options."""
        if flag_of is None or not self.is_known(flag_of):
            return self.python
        return self.command.format(**{keyword: flag_of(keyword) for keyword in self.keywords})


@dataclass(frozen=True, init=False)
class Phrase:
    """Text with terms in it; `str` of it is what Python says.

    Examples
    --------
    >>> from herded.system.diagnostics.phrases import MAX_MEMORY, Phrase
    >>> advice = Phrase("raise ", MAX_MEMORY)
    >>> str(advice), advice.render({"max_memory": "--max-memory"}.get)
    ('raise max_memory=', 'raise --max-memory')
    """

    parts: "tuple[str | Term | Phrase | Remedy, ...]"

    def __init__(self, *parts: "str | Term | Phrase | Remedy") -> None:
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return self.render()

    def render(self, flag_of: FlagOf | None = None) -> str:
        """The text for a command, or for Python."""
        return "".join(
            part if isinstance(part, str) else part.render(flag_of) for part in self.parts
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms in it."""
        return tuple(
            term
            for part in self.parts
            if not isinstance(part, str)
            for term in ((part,) if isinstance(part, Term) else part.terms)
        )

    def has_known_terms(self, flag_of: FlagOf | None) -> bool:
        """Whether a command has the options of some term, or there is no term."""
        return not self.terms or any(term.is_known(flag_of) for term in self.terms)


@dataclass(frozen=True, init=False)
class Remedy:
    """What to do: one or more ways. A command leaves out those whose options it does not have.

    Examples
    --------
    >>> from herded.system.diagnostics.phrases import MAX_MEMORY, Phrase, Remedy
    >>> remedy = Remedy("use a smaller model", Phrase("raise ", MAX_MEMORY))
    >>> str(remedy), remedy.render(lambda keyword: None)
    ('use a smaller model, or raise max_memory=', 'use a smaller model')
    """

    ways: tuple[Phrase, ...]
    verb: str

    def __init__(self, *ways: str | Term | Phrase, verb: str = "") -> None:
        phrases = tuple(way if isinstance(way, Phrase) else Phrase(way) for way in ways)
        object.__setattr__(self, "ways", phrases)
        object.__setattr__(self, "verb", verb)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms in its ways."""
        return tuple(term for way in self.ways for term in way.terms)

    def __bool__(self) -> bool:
        return bool(self.ways)

    def __str__(self) -> str:
        return self.render()

    def render(self, flag_of: FlagOf | None = None) -> str:
        """The text for a command, or for Python."""
        ways = [way for way in self.ways if way.has_known_terms(flag_of)] or self.ways
        *first, last = [way.render(flag_of) for way in ways] or [""]
        text = f"{', '.join(first)}, or {last}" if first else last
        return f"{self.verb} {text}" if self.verb else text


# -- terms that are used more than once ------------------------------------------------------------

MAX_MEMORY = Term("max_memory=", "{max_memory}")
RAISE_MAX_MEMORY = Phrase("raise ", MAX_MEMORY)
CHECKPOINT = Term("checkpoint=", "{checkpoint}")
BURN_IN = Term("burn_in", "{burn_in}")
HERDED = Term("HerdedGibbs", "{method} herded")
SWEEPS = Term("sweeps=", "{sweeps}")
SECONDS = Term("seconds=", "{seconds}")
MORE_SWEEPS = Term("more sweeps", "more {sweeps}")
MORE_RUNGS = Term("more rungs", "more {rungs}")
EXACT_INFERENCE = Term("exact inference", "{method} exact")
TEMPERED = Term("Tempered()", "{method} tempered")
FASTER_MOVES = Phrase(
    "moves that mix faster (", Term("moves=Blocks()", "{method} blocks"), ", ", TEMPERED, ")"
)
EXACT_WHERE_IT_FITS = Phrase(EXACT_INFERENCE, " where it fits")


def at_least_sweeps(sweeps: float) -> Term:
    """A number of sweeps with two digits, not below this one."""
    count = _round_up(sweeps)
    return Term(f"{count:,} sweeps or more", f"{{sweeps}} {count} or more")


def at_least_burn_in(sweeps: float) -> Term:
    """A burn-in with two digits, not below this one."""
    count = _round_up(sweeps)
    return Term(f"a burn-in of {count:,} sweeps or more", f"{{burn_in}} {count} or more")


def _round_up(number: float) -> int:
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return int(-int(-number // unit) * unit)
