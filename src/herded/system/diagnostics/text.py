"""The text of a diagnostic, and the small pieces that several texts share."""

from typing import NamedTuple

from herded.system.diagnostics.phrases import FlagOf, Phrase


class Text(NamedTuple):
    """A finding in a few words, and what follows a colon, if anything."""

    headline: str
    details: Phrase | None = None

    def render(self, flag_of: FlagOf | None = None) -> str:
        """The whole sentence, for a command or for Python."""
        if self.details is None:
            return self.headline
        return f"{self.headline}: {self.details.render(flag_of)}"


def others_text(others: float, one: str, many: str) -> str:
    """The clause ", and 3 others disagree too", or nothing."""
    return f", and {count_others(others)} {one if others == 1 else many} too" if others else ""


def count_others(others: float) -> str:
    """The words "1 other" or "3 others"."""
    return f"{others:.0f} {'other' if others == 1 else 'others'}"


def chains_text(some: float, chains: float) -> str:
    """The words "3 of 4 chains", or "this chain" where it is the only one."""
    return "this chain" if chains == 1 else f"{some:.0f} of {chains:.0f} chains"


def sweeps_text(sweeps: float) -> str:
    """The words "1 sweep" or "1,200 sweeps"."""
    return f"{sweeps:,.0f} sweep{'s' * (round(sweeps) != 1)}"
