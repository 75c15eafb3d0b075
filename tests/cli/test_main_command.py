"""The command `herded`: help, mistakes, exit codes, and signals."""

import os
import signal
import subprocess
import sys
import time

import pytest

from herded import MethodError, __version__
from herded.cli.main import UNFINISHED_TEXT, main
from herded.errors import CheckpointError, FileError, InfeasibleError, MemoryLimitError, ModelError
from herded.run.sampler_run import SamplerRun

pytestmark = pytest.mark.usefixtures("own_folder")


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0 and capsys.readouterr().out == f"herded {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["--help"], ["paper", "--help"], ["denoise", "-h"]]
    + [[command, "--help"] for command in ("infer", "info", "compare")],
)
def test_help(arguments, capsys):
    if arguments:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
    else:
        assert main([]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: herded") and err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["paint"],
        ["--nonsense"],
        ["denoise"],
        ["denoise", "a.png"],
        ["denoise", "a.png", "--out", "b.png", "--sigma", "much"],
        ["denoise", "a.png", "--out", "b.png", "--levels", "2.5"],
        ["paper", "--quick", "--full"],
        ["paper", "extra"],
        ["infer"],
        ["infer", "a.uai", "--sweeps", "5", "--seconds", "2"],
        ["infer", "a.uai", "--method", "magic"],
        ["infer", "a.uai", "--max-memory", "much"],
        ["infer", "a.uai", "--max-memory", "0"],
        ["info"],
        ["compare", "a.uai", "--seconds", "soon"],
    ],
)
def test_a_command_line_that_is_not_understood(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("usage: herded")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["denoise", "--help"], ["infer", "--help"], ["paint"]]
)
def test_help_and_mistakes_import_nothing_heavy(arguments):
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom herded.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "added = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "heavy = added - sys.stdlib_module_names - {'herded'}\n"
        "heavy |= added & {'asyncio', 'multiprocessing', 'unittest', 'xml'}\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    left = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert left.returncode == 0, left.stderr


def test_every_error_of_ours_is_exit_code_one(capsys, monkeypatch):
    def fail(options):
        raise MethodError("expected this, got that")

    monkeypatch.setattr("herded.cli.commands.denoise.denoise", fail)
    assert main(["denoise", "a", "--out", "b"]) == 1
    assert capsys.readouterr().err == "herded: expected this, got that\n"


def test_interrupted_is_exit_code_130(capsys, monkeypatch):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("herded.cli.commands.denoise.denoise", interrupt)
    assert main(["denoise", "a", "--out", "b"]) == 130
    assert capsys.readouterr().err == f"herded: interrupted{UNFINISHED_TEXT}\n"


def test_terminated_is_exit_code_143(capsys, monkeypatch):
    def terminate(options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr("herded.cli.commands.denoise.denoise", terminate)
    assert main(["denoise", "a", "--out", "b"]) == 143
    assert capsys.readouterr().err == f"herded: terminated{UNFINISHED_TEXT}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_is_ignored_stays_so(number, monkeypatch):
    """A shell starts what it runs in the background with Ctrl-C ignored."""

    def press(options):
        os.kill(os.getpid(), number)
        return 0

    signal.signal(number, signal.SIG_IGN)
    monkeypatch.setattr("herded.cli.commands.denoise.denoise", press)
    assert main(["denoise", "a", "--out", "b"]) == 0
    assert signal.getsignal(number) is signal.SIG_IGN


def test_a_signal_waits_for_the_imports(monkeypatch):
    """Some libraries turn whatever is raised while they are imported into an ImportError."""
    imported = []

    def importing(name):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        imported.append(name)

    monkeypatch.setattr("importlib.import_module", importing)
    assert main(["denoise", "a", "--out", "b"]) == 130
    assert imported == ["herded.cli.commands.denoise"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileError, 3),
        (CheckpointError, 3),
        (MemoryLimitError, 4),
        (ModelError, 1),
        (InfeasibleError, 1),
    ],
)
def test_files_and_memory_have_exit_codes_of_their_own(error, code, capsys, monkeypatch):
    def fail(options):
        raise error("expected this, got that")

    monkeypatch.setattr("herded.cli.commands.denoise.denoise", fail)
    assert main(["denoise", "a", "--out", "b"]) == code
    assert capsys.readouterr().err == "herded: expected this, got that\n"


def test_signals_are_given_back(monkeypatch):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("herded.cli.commands.denoise.denoise", lambda options: 0)
    assert main(["denoise", "a", "--out", "b"]) == 0
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_one_ctrl_c_stops_the_paper(tmp_path, capsys, monkeypatch):
    """Pressed in the second block of sweeps: no page is written."""
    advance, blocks = SamplerRun.advance, []

    def pressed(*args):
        blocks.append(1)
        if len(blocks) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return advance(*args)

    monkeypatch.setattr(SamplerRun, "advance", pressed)
    assert main(["paper", "--quick", "--only", "denoising", "--out", str(tmp_path / "page")]) == 130
    assert capsys.readouterr().err == f"herded: interrupted{UNFINISHED_TEXT}\n"
    assert 2 <= len(blocks) < 20 and not (tmp_path / "page" / "index.html").exists()
