"""The command `herded`: reads its arguments and calls the command they name.

Nothing heavy is imported before a command runs, so that help and errors appear at once. SIGINT
and SIGTERM both end a command cleanly, and the exit code says which of them it was.
"""

import argparse
import gc
import importlib
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

from herded.cli.command_wording import error_text
from herded.cli.commands.infer_arguments import add_compare, add_infer, add_info, add_many
from herded.cli.commands.live_arguments import add_live
from herded.cli.commands.ner_arguments import add_ner
from herded.errors import (
    CheckpointError,
    CorpusError,
    FileError,
    HerdedError,
    Interrupted,
    MemoryLimitError,
    shorten_message,
)
from herded.run.interrupts import defer_interrupt
from herded.system.suggestions import did_you_mean
from herded.version import __version__

# new objects: imports drop few, and a tenth of a short command went to looking
COLLECTION_THRESHOLD = 50_000
INVALID_CHOICE_PATTERN = re.compile(
    r"invalid choice: '?(?P<word>[^']*)'? \(choose from (?P<known>.*)\)"
)
EXIT_CODES = """exit codes:
  0    done
  1    invalid input or option; the message says what to do
  2    the command line could not be parsed
  3    a file cannot be read, or a result or a checkpoint cannot be written
  4    the run needs more memory than is available or than --max-memory allows
  130  interrupted (SIGINT); files are complete, and the message says what they hold
  141  the output pipe was closed
  143  terminated (SIGTERM), otherwise as 130
"""

UNFINISHED_TEXT = " before the end: no file is incomplete; run the same command again"


class Parser(argparse.ArgumentParser):
    """A parser of argparse with suggestions, also for the commands in it."""

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the options; the command that does not know an option reports it."""
        options, unknown = self.parse_known_args(words)
        if unknown:
            *_, command = self._commands(options)
            hint = did_you_mean(unknown[0].split("=")[0], command._option_string_actions)
            command.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options

    def _commands(self, options: argparse.Namespace) -> Iterator["Parser"]:
        """Yield this parser and those of the commands that were given."""
        yield self
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                chosen = action.choices.get(getattr(options, action.dest, None) or "")
                if chosen is not None:
                    yield from chosen._commands(options)

    def error(self, message: str) -> NoReturn:
        found = INVALID_CHOICE_PATTERN.search(message)
        if found:
            known = [word.strip().strip("'") for word in found["known"].split(",")]
            message += did_you_mean(found["word"], known)
        super().error(shorten_message(message))


def parser(command: str | None = None) -> Parser:
    """Build the parser of all commands; `ner` and `live` only where no other is called."""
    top = Parser(
        prog="herded",
        description="Deterministic inference for discrete graphical models: herded Gibbs sampling.",
        epilog=f"example:\n  herded infer model.uai\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"herded {__version__}")
    commands: Any = top.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    paper = commands.add_parser(
        "paper",
        help="run the paper's experiments and write a page that compares the results",
        description="Run the experiments of Bornn et al. (2013), Herded Gibbs Sampling, and write "
        "one HTML page and CSV files that compare our results with the paper's.",
        epilog="example: herded paper --quick --out report",
    )
    size = paper.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, in about a minute")
    size.add_argument("--full", action="store_true", help="the sizes of the paper, and larger ones")
    paper.add_argument(
        "--only",
        metavar="PART",
        help="run one part: herding, theory, two-variables, denoising or ner",
    )
    paper.add_argument(
        "--corpus",
        action="append",
        default=[],
        metavar="PATH",
        help="labelled text for the ner part, such as the folder of IE-ER or an .npz of chains; "
        "may be repeated; default: a bundled sample, and IE-ER if NLTK has it",
    )
    paper.add_argument("--out", default="herded-paper", metavar="DIR", help="default: %(default)s")
    denoise = commands.add_parser(
        "denoise",
        help="clean a noisy picture",
        description="Clean a noisy picture (PNG, PBM or TIFF) by inference in an Ising model: one "
        "for a picture of two levels, one for each threshold of a grey picture. Noise, levels and "
        "coupling are estimated. Also writes OUT-before-after.png.",
        epilog="example: herded denoise noisy.png --out clean.png",
    )
    denoise.add_argument("picture", metavar="IN", help="the noisy picture")
    denoise.add_argument("--out", required=True, metavar="OUT", help="the clean picture")
    denoise.add_argument(
        "--sigma",
        type=float,
        help="standard deviation of the noise, where black is 0 and white 1 "
        "(or in the units of a float TIFF); estimated if not given",
    )
    denoise.add_argument(
        "--coupling", default="auto", metavar="J", help='a number, or "auto" (the default)'
    )
    denoise.add_argument(
        "--levels",
        type=_levels,
        metavar="LEVELS",
        help='values such as 0,1, a number of levels, or "grey"; chosen by evidence if not given',
    )
    denoise.add_argument(
        "--noise",
        default="auto",
        metavar="NOISE",
        help="gauss, flip (salt and pepper) or auto: flips if the picture has only two values; "
        "default: %(default)s",
    )
    denoise.add_argument(
        "--sweeps", type=int, default=30, help="sweeps of each chain; default: %(default)s"
    )
    denoise.add_argument(
        "--method",
        default="herd",
        help="herd, shared, herded, pooled, gibbs, mean-field or bp; default: %(default)s",
    )
    denoise.add_argument(
        "--truth", metavar="CLEAN", help="the true picture, if known: the errors are printed"
    )
    add_infer(commands, EXIT_CODES)
    add_many(commands, EXIT_CODES)
    add_info(commands, EXIT_CODES)
    add_compare(commands, EXIT_CODES)
    if command not in commands.choices:
        add_ner(commands)
        add_live(commands)
    return top


def _levels(text: str) -> int | str | list[float]:
    """Return a number of levels, values between commas, or "grey"."""
    if text == "grey":
        return text
    try:
        return [float(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'expected values such as 0,1, a number or "grey", got {text!r}'
        ) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    gc.set_threshold(COLLECTION_THRESHOLD)
    words = sys.argv[1:] if arguments is None else list(arguments)
    top = parser(words[0] if words else None)
    options = top.parse(words)
    options.command_line = shlex.join(["herded", *words])
    if options.command is None:
        top.print_help()
        return 0
    with InterruptOnSignals() as signals:
        try:
            with defer_interrupt():
                module = importlib.import_module(f"herded.cli.commands.{options.command}")
            code = int(getattr(module, options.command)(options))
            sys.stdout.flush()
            return code
        except KeyboardInterrupt as why:
            signals.ignore()
            said = "" if isinstance(why, Interrupted) else str(why)  # only what a command says
            print(f"herded: {signals.word}{said or UNFINISHED_TEXT}", file=sys.stderr)
            return signals.code
        except HerdedError as error:
            print(f"herded: {error_text(error, options)}", file=sys.stderr)
            return _code(error)
        except OSError as error:
            _drop_output()
            if isinstance(error, BrokenPipeError):
                return 141
            reason = error.strerror or error
            print(f"herded: could not write the results: {reason}", file=sys.stderr)
            return 3


def _code(error: HerdedError) -> int:
    if isinstance(error, (FileError, CheckpointError, CorpusError)):
        return 3
    return 4 if isinstance(error, MemoryLimitError) else 1


def _drop_output() -> None:
    """Discard the rest of the output, so that Python does not complain about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class InterruptOnSignals:
    """A context in which either signal raises KeyboardInterrupt.

    `herded.run.interrupts` handles signals where that would do harm, and while samples are drawn.
    Signals that are ignored stay ignored: shells start background commands that way.
    """

    def __init__(self) -> None:
        self.seen = signal.SIGINT  # what a KeyboardInterrupt from elsewhere means
        self._before: dict[signal.Signals, Any] = {}

    @property
    def code(self) -> int:
        """The exit code of a command that a signal has ended."""
        return 128 + self.seen

    @property
    def word(self) -> str:
        return "terminated" if self.seen == signal.SIGTERM else "interrupted"

    def __enter__(self) -> "InterruptOnSignals":
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
            self._before = {n: old for n, old in before.items() if old is not signal.SIG_IGN}
            for number in self._before:
                signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.seen = signal.Signals(number)
        raise KeyboardInterrupt

    def ignore(self) -> None:
        """Ignore further signals until the process ends."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)
        self._before = {}
