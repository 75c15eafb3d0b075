"""A parser of command lines that suggests what a misspelt word may have meant."""

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from herded.errors import shortened
from herded.system.spelling import did_you_mean

CHOICE = re.compile(r"invalid choice: '?(?P<word>[^']*)'? \(choose from (?P<known>.*)\)")


class Parser(argparse.ArgumentParser):
    """As argparse's; its commands are of this class too."""

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """The options; one that is unknown is told by the command that does not know it."""
        options, unknown = self.parse_known_args(words)
        if unknown:
            *_, command = self._commands(options)
            hint = did_you_mean(unknown[0].split("=")[0], command._option_string_actions)
            command.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options

    def _commands(self, options: argparse.Namespace) -> Iterator["Parser"]:
        """This parser, and those of the commands that were given."""
        yield self
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                chosen = action.choices.get(getattr(options, action.dest, None) or "")
                if chosen is not None:
                    yield from chosen._commands(options)

    def error(self, message: str) -> NoReturn:
        found = CHOICE.search(message)
        if found:
            known = [word.strip().strip("'") for word in found["known"].split(",")]
            message += did_you_mean(found["word"], known)
        super().error(shortened(message))
