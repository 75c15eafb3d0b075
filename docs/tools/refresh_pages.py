"""python -m docs.tools.refresh_pages [PAGE ...]: run commands of pages, write what they print.

A command stands in a block that begins with ```console, after "$ ", its further lines after "> ";
what it prints follows. The commands of a page run in the order of the page, in a folder of their
own, where `herded` and `python` are those that run this. Further words after ```console:

    fails    a command here ends with an error, and is meant to
    varies   the output depends on the clock or the machine: --check leaves it out

Where a page says in a ```text block what the ```python block before it prints, its Python is run,
too.

With --check nothing is written: the pages whose commands are out of date are named. Seconds, and
digits that the machine's arithmetic decides, may differ. The tests check the Python.
"""

import argparse
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import herded
from docs.tools.page_files import page_files
from docs.tools.transcripts import has_output, replayed

BLOCK = re.compile(r"^```console(?P<words>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
CLOCK = re.compile(r"\b\d+(\.\d+)?(e[-+]?\d+)?(?= s\b| seconds\b)")
DIGITS = re.compile(r"(\.\d{8})\d+")


@dataclass(frozen=True)
class Command:
    """What is typed, and what is printed."""

    typed: str  # with its further lines
    printed: str

    def as_text(self) -> str:
        first, *more = self.typed.split("\n")
        return (
            "\n".join([f"$ {first}", *(f"> {line}".rstrip() for line in more)])
            + "\n"
            + self.printed
        )


def commands(text: str) -> list[Command]:
    """The commands of a block."""
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif not found:
            raise ValueError(f"expected a command after '$ ' in a console block, got {line!r}")
        elif (line + " ").startswith("> ") and not found[-1].printed:
            found[-1] = Command(f"{found[-1].typed}\n{line[2:]}", "")
        else:
            found[-1] = Command(found[-1].typed, f"{found[-1].printed}{line}\n")
    return found


def refreshed(page: str, check: bool = False) -> str:
    """The page with what its commands print now; if `check`, without those that vary."""
    with command_folder() as folder:

        def renew(block: re.Match[str]) -> str:
            words = block["words"].split()
            if check and "varies" in words:
                return block[0]
            text = "".join(
                Command(c.typed, run(c.typed, folder, "fails" in words)).as_text()
                for c in commands(block["text"])
            )
            return f"```console{block['words']}\n{text}```"

        return BLOCK.sub(renew, page)


@contextlib.contextmanager
def command_folder() -> Iterator[Path]:
    """A folder whose bin/ has the commands and in whose work/ they run."""
    with tempfile.TemporaryDirectory(prefix="herded-docs-") as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "work").mkdir()
        _offer(folder / "bin" / "herded", "-m herded")
        _offer(folder / "bin" / "python", "")
        yield folder


def _offer(path: Path, arguments: str) -> None:
    """A command of that name, which runs this Python."""
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
    path.chmod(0o755)


def run(typed: str, folder: Path, may_fail: bool) -> str:
    """What a command prints, errors included."""
    sources = [str(Path(herded.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(folder / "bin"), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(path for path in sources if path),
        "COLUMNS": "88",
    }
    with subprocess.Popen(
        ["bash", "-c", typed],
        cwd=folder / "work",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            printed, _ = shell.communicate(timeout=600)
        except BaseException:  # too late, or Ctrl-C: what the shell has started ends with it
            os.killpg(shell.pid, signal.SIGKILL)
            raise
    if shell.returncode and not may_fail:
        raise ValueError(f"{typed!r} ended with {shell.returncode}:\n{printed}")
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def is_current(page: str) -> bool:
    """Whether the commands print what the page says, but for seconds and last digits."""
    return _blurred(refreshed(page, check=True)) == _blurred(page)


def _blurred(page: str) -> str:
    return DIGITS.sub(r"\1", CLOCK.sub("_", page))


def pages(names: list[str]) -> Iterator[Path]:
    """The pages of these names, or all that show commands or what their Python prints."""
    for path in page_files().values():
        page = path.read_text(encoding="utf-8")
        if path.stem in names or (not names and (BLOCK.search(page) or has_output(page))):
            yield path


def main() -> int:
    options = argparse.ArgumentParser(
        prog="python -m docs.tools.refresh_pages", description=__doc__.split("\n")[0]
    )
    options.add_argument("pages", nargs="*", metavar="PAGE", help="such as tutorial; default: all")
    options.add_argument("--check", action="store_true", help="write nothing, name what is old")
    chosen = options.parse_args()
    old = 0
    for path in pages(chosen.pages):
        page = path.read_text(encoding="utf-8")
        if chosen.check:
            current = is_current(page)
            old += not current
            print(f"{path.name}: {'current' if current else 'out of date'}")
        else:
            page = refreshed(page)
            path.write_text(replayed(page) if has_output(page) else page, encoding="utf-8")
            print(f"{path.name}: written")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
