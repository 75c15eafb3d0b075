"""The arguments of `herded live`."""

import argparse
from typing import Any


def add_live(commands: Any) -> None:
    """Add `herded live`."""
    live = commands.add_parser(
        "live",
        help="open the live page: herded Gibbs in the browser",
        description="Serve the live page to this machine only and open it in the browser. --out "
        "writes the page as static files; --check prints the hash that the page shows for a link.",
        epilog="example: herded live --port 8000",
    )
    what = live.add_mutually_exclusive_group()
    what.add_argument("--out", metavar="DIR", help="write the page as static files and exit")
    what.add_argument(
        "--check",
        metavar="LINK",
        help="print the hash of the run that a link stands for, such as "
        "'two?eps=0.01&seed=0&method=herded&sweeps=1000'",
    )
    live.add_argument("--model", metavar="FILE", help="model file, for --check 'model?...'")
    live.add_argument("--port", type=_port, default=0, help="port; default: any free one")
    live.add_argument("--no-browser", action="store_true", help="only print the link")


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)
