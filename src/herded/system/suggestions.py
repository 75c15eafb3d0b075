"""Suggestions of close spellings for unknown names."""

from collections.abc import Iterable

MAX_NAMES = 20_000  # names that are compared, because comparing is slow


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Suggest a close spelling, as `: did you mean 'HRBP'?`, or return an empty text.

    Examples
    --------
    >>> from herded.system.suggestions import did_you_mean
    >>> did_you_mean("HRPB", ["HR", "HRBP", "CO"])
    ": did you mean 'HRBP'?"
    >>> did_you_mean("x", ["HR", "HRBP", "CO"])
    ''
    """
    import difflib

    names = [str(name) for name in known][:MAX_NAMES]
    text = str(word)[:80]
    same = [name for name in names if name.lower() == text.lower()]
    found = same or difflib.get_close_matches(text, names, n=1, cutoff=0.6)
    return f": did you mean {found[0]!r}?" if found else ""
