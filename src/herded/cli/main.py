"""The command `herded`: reads its arguments and calls the command they name.

Nothing heavy is imported before a command runs, so that help and mistakes answer at once.
"""

import argparse
import sys
from collections.abc import Sequence

from herded import __version__
from herded.errors import HerdedError

EXIT_CODES = """exit codes:
  0    done
  1    the input or an option makes no sense; the message says what to do
  2    the command line is not understood
  130  interrupted
"""


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(
        prog="herded",
        description="Deterministic inference for discrete graphical models: herded Gibbs sampling.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"herded {__version__}")
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    paper = commands.add_parser(
        "paper",
        help="run the paper's experiments and write one page with every table and figure",
        description="Run the experiments of Bornn et al. (2013), Herded Gibbs Sampling, and write "
        "one HTML page and CSV files: ours beside theirs.",
    )
    size = paper.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, in seconds")
    size.add_argument("--full", action="store_true", help="the paper's own sizes and more")
    paper.add_argument("--only", metavar="PART", help="two-variables or denoising")
    paper.add_argument("--out", default="herded-paper", metavar="DIR", help="default: %(default)s")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give its exit code."""
    top = parser()
    options = top.parse_args(arguments)
    if options.command is None:
        top.print_help()
        return 0
    try:
        from herded.cli.paper import paper

        return {"paper": paper}[options.command](options)
    except HerdedError as error:
        print(f"herded: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("herded: interrupted", file=sys.stderr)
        return 130
