"""The command `herded`: exit codes, what is printed where, and what is left on the disk."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import numpy as np
import pytest

from herded import MethodError, __version__
from herded.cli.main import main
from herded.errors import CapError, CheckpointError, FileError, ModelError, SupportError
from herded.io.images import read_image, write_image
from herded.paper import denoising
from herded.paper.denoising import drawn_picture

PICTURES = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
CLEAN = drawn_picture(64)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _signals_as_before():
    """An interrupted command ignores further signals, as its process is about to end."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGTERM, before[1])


def run(*arguments, **options):
    command = [sys.executable, "-m", "herded", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, **options
    )


def fails(capsys, *arguments):
    """The one sentence that is said on stderr."""
    assert main(list(arguments)) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("herded: expected ")
    assert err.count("\n") == 1 and "Traceback" not in err
    return err


# Help and mistakes


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
        ["infer", "a.uai", "--cap", "much"],
        ["infer", "a.uai", "--cap", "0"],
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
        "import sys\nfrom herded.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'numba', 'rich', 'matplotlib', 'PIL'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    left = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert left.returncode == 0, left.stderr


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the child's CPU time")
def test_help_takes_little_time():
    def cpu_seconds():
        child = subprocess.Popen(
            [sys.executable, "-m", "herded", "--help"], stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        return usage.ru_utime + usage.ru_stime

    assert min(cpu_seconds() for _ in range(5)) < 0.150


def test_an_error_is_one_sentence_and_exit_code_one():
    left = run("denoise", "missing.png", "--out", "out.png")
    assert left.returncode == 1 and left.stdout == ""
    assert left.stderr == ("herded: expected a picture at missing.png, but there is no such file\n")


def test_every_error_of_ours_is_exit_code_one(capsys, monkeypatch):
    def fail(options):
        raise MethodError("expected this, got that")

    monkeypatch.setattr("herded.cli.denoise.denoise", fail)
    assert main(["denoise", "a", "--out", "b"]) == 1
    assert capsys.readouterr().err == "herded: expected this, got that\n"


def test_interrupted_is_exit_code_130(capsys, monkeypatch):
    before = signal.getsignal(signal.SIGINT)  # `main` ignores another one: its process ends

    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("herded.cli.denoise.denoise", interrupt)
    try:
        assert main(["denoise", "a", "--out", "b"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "herded: interrupted\n"


def test_terminated_is_exit_code_143(capsys, monkeypatch):
    def terminate(options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr("herded.cli.denoise.denoise", terminate)
    assert main(["denoise", "a", "--out", "b"]) == 143
    assert capsys.readouterr().err == "herded: terminated\n"


def test_a_signal_waits_for_the_imports(monkeypatch):
    """Some libraries turn whatever is raised while they are imported into an ImportError."""
    imported = []

    def importing(name):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        imported.append(name)

    monkeypatch.setattr("importlib.import_module", importing)
    assert main(["denoise", "a", "--out", "b"]) == 130
    assert imported == ["herded.cli.denoise"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(FileError, 3), (CheckpointError, 3), (CapError, 4), (ModelError, 1), (SupportError, 1)],
)
def test_files_and_memory_have_exit_codes_of_their_own(error, code, capsys, monkeypatch):
    def fail(options):
        raise error("expected this, got that")

    monkeypatch.setattr("herded.cli.denoise.denoise", fail)
    assert main(["denoise", "a", "--out", "b"]) == code
    assert capsys.readouterr().err == "herded: expected this, got that\n"


def test_signals_are_given_back(monkeypatch):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("herded.cli.denoise.denoise", lambda options: 0)
    assert main(["denoise", "a", "--out", "b"]) == 0
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_one_ctrl_c_stops_the_paper(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-m", "herded", "paper", "--full", "--out", str(tmp_path / "page")],
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(4)  # it runs for minutes
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == "herded: interrupted\n"
    assert not (tmp_path / "page" / "index.html").exists()


# herded denoise


def noisy_file(name, noise=0.5, seed=0):
    """The drawn picture, noisy, in the format the name says; and clean as clean.png."""
    rng = np.random.default_rng(seed)
    if name.endswith(".pbm"):
        write_image(name, CLEAN ^ (rng.random(CLEAN.shape) < 0.08))
    elif name.endswith(".tif"):
        write_image(name, np.where(CLEAN, 200.0, 50.0) + 75 * noise * rng.normal(size=CLEAN.shape))
    else:
        write_image(name, 0.25 + 0.5 * CLEAN + 0.25 * noise * rng.normal(size=CLEAN.shape))
    write_image("clean.png", CLEAN)


@pytest.mark.parametrize("source", ["noisy.png", "noisy.pbm", "noisy.tif"])
@pytest.mark.parametrize("target", ["out.png", "out.pbm", "out.tif"])
def test_denoise_a_picture(source, target, capsys):
    noisy_file(source)
    assert main(["denoise", source, "--out", target, "--truth", "clean.png"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "64 x 64 pixels" in out and "30 sweeps" in out
    assert re.search(r"\(\d+ million updates per second\)", out)
    before, after = map(float, re.search(r"([\d.]+)% before, ([\d.]+)% after", out).groups())
    assert after < before / 2 and after < 1.0
    assert f"wrote {target} and out-before-after.png" in out
    found = read_image(target)
    assert ((found > (found.max() + found.min()) / 2) != CLEAN).mean() < 0.01
    beside = read_image("out-before-after.png")
    assert beside.shape[0] == 64 and beside.shape[1] >= 2 * 64
    assert ((beside[:, -64:] > 0.5) != CLEAN).mean() < 0.01
    assert sorted(os.listdir()) == sorted({source, target, "clean.png", "out-before-after.png"})


@pytest.mark.parametrize("method", ["shared", "herded", "pooled", "gibbs", "mean-field", "bp"])
def test_denoise_by_every_method(method, capsys):
    noisy_file("noisy.png")
    options = ["--method", method, "--sigma", "0.125", "--coupling", "0.8", "--sweeps", "9"]
    assert main(["denoise", "noisy.png", "--out", "out.png", *options]) == 0
    assert "sigma 0.125, coupling 0.8" in capsys.readouterr().out
    assert ((read_image("out.png") > 0.5) != CLEAN).mean() < 0.02


def test_denoise_grey_levels(capsys):
    clean = np.add.outer(np.linspace(0.1, 0.9, 48), np.linspace(0.1, 0.9, 40)) / 2
    write_image("clean.tif", clean)
    write_image("noisy.tif", clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape))
    options = ["--levels", "16", "--coupling", "auto", "--truth", "clean.tif"]
    assert main(["denoise", "noisy.tif", "--out", "out.tif", *options]) == 0
    out = capsys.readouterr().out
    before, after = map(float, re.search(r"error ([\d.]+) before, ([\d.]+) after", out).groups())
    assert after < before / 2


def test_denoise_levels_beyond_zero_and_one_are_shown_in_a_png():
    noisy_file("noisy.tif")
    main(["denoise", "noisy.tif", "--out", "out.png"])
    assert np.array_equal(np.unique(read_image("out.png")), [0, 1])


def test_denoise_one_pixel_and_a_colour_picture(capsys):
    write_image("one.png", np.array([[0.3]]))
    assert main(["denoise", "one.png", "--out", "out.png"]) == 0
    assert read_image("out.png")[0, 0] == pytest.approx(0.3, abs=0.01)
    colours = np.stack([0.8 * CLEAN, 0.5 * CLEAN, 0.9 * CLEAN], axis=2)
    PICTURES.fromarray((255 * colours).astype(np.uint8)).save("colour.png")
    assert main(["denoise", "colour.png", "--out", "out.png"]) == 0
    assert np.array_equal(read_image("out.png") > 0.3, CLEAN)


def test_denoise_wrong_files_and_options(capsys):
    noisy_file("noisy.png")
    write_image("small.png", CLEAN[:5])
    write_image("nan.tif", np.array([[0.0, np.nan], [1.0, 1.0]]))
    os.mkdir("folder")
    with open("text.png", "w") as file:
        file.write("no picture")
    before = sorted(os.listdir())

    def said(*arguments):
        return fails(capsys, "denoise", *arguments)

    out = ("--out", "out.png")
    assert "cannot be read" in said("text.png", *out)
    assert "no such file" in said("missing.png", *out)
    assert "directory" in said("folder", *out)
    assert "NaN" in said("nan.tif", *out)
    assert "(5, 64)" in said("noisy.png", *out, "--truth", "small.png")
    assert "no such file" in said("noisy.png", *out, "--truth", "missing.png")
    assert "sigma" in said("noisy.png", *out, "--sigma", "0")
    assert "sigma" in said("noisy.png", *out, "--sigma", "nan")
    assert "--coupling" in said("noisy.png", *out, "--coupling", "strong")
    assert "coupling" in said("noisy.png", *out, "--coupling", "inf")
    assert "--method" in said("noisy.png", *out, "--method", "magic")
    assert "levels" in said("noisy.png", *out, "--levels", "1")
    assert "sweeps" in said("noisy.png", *out, "--sweeps", "0")
    assert "No such file" in said("noisy.png", "--out", "no/out.png")
    assert "suffix" in said("noisy.png", "--out", "out.xyz")
    assert sorted(os.listdir()) == before


def test_denoise_a_large_picture_in_seconds():
    clean = drawn_picture(2048)
    noise = np.random.default_rng(0).normal(size=clean.shape)
    write_image("noisy.png", 0.25 + 0.5 * clean + 0.25 * noise)
    began = time.perf_counter()
    left = run("denoise", "noisy.png", "--out", "out.png")
    assert left.returncode == 0, left.stderr
    assert time.perf_counter() - began < 60
    assert "2048 x 2048 pixels" in left.stdout
    assert re.search(r"30 sweeps in [\d.]+ s \(\d+ million updates per second\)", left.stdout)
    assert ((read_image("out.png") > 0.5) != clean).mean() < 0.001


# herded paper


class Page(HTMLParser):
    """Collects what is opened, what is closed out of turn, and what would be loaded."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.loads, self.unbalanced = [], set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href", "xlink:href", "data")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)


TABLES = {
    "two-variables": ["two-variables"],
    "theory": ["theorem-2", "statements", "phase-locking", "plateau"],
    "denoising": ["denoising-picture"],
}


@pytest.mark.parametrize("part", TABLES)
def test_paper_writes_one_page_that_needs_nothing_else(part, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    monkeypatch.setitem(denoising.SIZES, "quick", (40, 2))
    texts = []
    for _ in range(2):
        assert main(["paper", "--quick", "--only", part, "--out", "page"]) == 0
        with open("page/index.html", encoding="utf-8") as file:
            texts.append(re.sub(r"[\d.]+ seconds\.", "", file.read()))
    assert texts[0] == texts[1]
    page = Page(texts[0])
    assert page.open == [] and page.unbalanced == []
    assert "script" not in page.seen and "link" not in page.seen and "svg" in page.seen
    assert all(value.startswith(("#", "data:")) for value in page.loads)
    assert "@import" not in texts[0] and not re.search(r"url\((?!#|['\"]?#)", texts[0])
    assert f"herded paper --quick --only {part} --out page" in texts[0]
    names = sorted(f"{name}.csv" for name in TABLES[part])
    assert sorted(os.listdir("page")) == sorted([*names, "index.html"])
    for name in names:
        with open(f"page/{name}", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    out, err = capsys.readouterr()
    assert err == "" and "page/index.html written in" in out


def test_paper_theory_all_statements_hold(capsys):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    main(["paper", "--quick", "--only", "theory", "--out", "page"])
    assert "holds on 20 of 20 random complete graphs" in capsys.readouterr().out
    for name in ("theorem-2", "statements"):
        with open(f"page/{name}.csv", newline="", encoding="utf-8") as file:
            assert {row["holds"] for row in csv.DictReader(file)} == {"yes"}


def test_paper_wrong_options(capsys):
    with open("file", "w"):
        pass
    assert "two-variables" in fails(capsys, "paper", "--only", "magic")
    for place in ("file", "file/folder", "/dev/null/folder"):
        assert place in fails(capsys, "paper", "--quick", "--out", place)
    assert os.listdir() == ["file"]
