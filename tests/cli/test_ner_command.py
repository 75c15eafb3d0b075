"""`herded ner`: what it writes and where, odd texts and files, one sentence for what is wrong."""

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from herded import MethodError
from herded.cli.commands import ner as command
from herded.cli.main import UNFINISHED_TEXT, main
from herded.ner.text import tokenizer
from herded.ner.text.corpus import read_conll
from tests.support.commands import quick
from tests.support.fake_recogniser import fails, installed, said

TEXT = "Tim Roth met the BBC in Amsterdam."
MARKED = "[PERSON Tim Roth] met the [ORGANIZATION BBC] in [LOCATION Amsterdam]."


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def recogniser(monkeypatch):
    return installed(monkeypatch)


def standard_input(monkeypatch, data):
    source = io.BufferedReader(io.BytesIO(data))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(source, encoding="utf-8"))


# Arguments


@pytest.mark.parametrize("action", [[], ["tag"], ["eval"], ["train"], ["compare"]])
def test_help(action, capsys):
    if action:
        with pytest.raises(SystemExit) as left:
            main(["ner", *action, "--help"])
        assert left.value.code == 0
    else:
        assert main(["ner"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: herded ner") and err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["sing"],
        ["tag"],
        ["tag", "text", "--file", "also.txt"],
        ["tag", "text", "--json", "--html"],
        ["tag", "text", "--sweeps", "many"],
        ["eval"],
        ["eval", "a.conll", "--format", "text"],
        ["train", "a.conll", "--dev", "b.conll"],
        ["train", "a.conll", "--out", "m.npz", "--scheme", "bilou"],
        ["compare", "--quickly"],
    ],
)
def test_a_command_line_that_is_not_understood(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["ner", *arguments])
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("usage: herded")


@pytest.mark.parametrize("arguments", [["ner", "--help"], ["ner", "tag", "--help"], ["ner", "x"]])
def test_help_and_mistakes_import_nothing_heavy(arguments):
    program = (
        "import sys\nfrom herded.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'numba', 'rich', 'spacy', 'herded.ner'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    left = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert left.returncode == 0, left.stderr


# Tagging


def test_tag_a_text(capsys, recogniser):
    assert said(capsys, "tag", TEXT) == MARKED + "\n"
    options = {"decoder": "viterbi", "skip": False, "sweeps": 400, "seed": 0}
    assert recogniser.calls == [(TEXT, options)] and recogniser.path is None


def test_tag_passes_its_options_on(capsys, recogniser):
    arguments = "--decoder herded --skip --sweeps 7 --seed 3 --model m.npz"
    said(capsys, "tag", "x", *arguments.split())
    options = {"decoder": "herded", "skip": True, "sweeps": 7, "seed": 3}
    assert recogniser.calls == [("x", options)] and recogniser.path == "m.npz"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        (" \n", " \n"),
        ("😀👩‍👩‍👧 Tim 🇳🇱", "😀👩‍👩‍👧 [PERSON Tim] 🇳🇱\n"),
        ("\0Tim\0", "\\x00[PERSON Tim]\\x00\n"),
        ("\x1b[31mTim\x1b]0;owned\x07 \x9b2J", "\\x1b[31mTim\\x1b]0;owned\\x07 \\x9b2J\n"),
        ("Tim\udcff Roth\ud83d", "[PERSON Tim]\ufffd [PERSON Roth]\ufffd\n"),
        ("a\rb\r\nc", "a\\x0db\r\nc\n"),
    ],
)
def test_tag_odd_texts(text, shown, capsys):
    assert said(capsys, "tag", text) == shown
    for form in ("--json", "--html", "--conll"):
        out = said(capsys, "tag", text, form)
        assert not re.search(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", out)


def test_tag_nothing(capsys):
    assert said(capsys, "tag", "", "--json") == said(capsys, "tag", "", "--conll") == ""
    assert said(capsys, "tag", "", "--html").endswith("</html>\n")


def test_tag_ten_thousand_words_without_a_full_stop(capsys):
    words = ["Tim" if i % 100 == 0 else f"word{i}" for i in range(10_000)]
    assert said(capsys, "tag", " ".join(words)).count("[PERSON Tim]") == 100
    assert said(capsys, "tag", " ".join(words), "--conll").count("\n") == 10_001


def test_tag_in_colours_on_a_terminal(capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    out = said(capsys, "tag", "Tim\x1b[2J ran")
    assert re.fullmatch(
        r"\x1b\[30;\d+mTim\x1b\[0m\\x1b\[2J ran\n\n\x1b\[30;\d+mPERSON\x1b\[0m 1  .*\n", out
    )
    monkeypatch.setenv("NO_COLOR", "1")
    assert said(capsys, "tag", "Tim ran") == "[PERSON Tim] ran\n"


def test_tag_as_json(capsys):
    lines = said(capsys, "tag", TEXT, "--json").splitlines()
    assert json.loads(lines[2]) == {
        "document": "text",
        "start": 24,
        "end": 33,
        "kind": "LOCATION",
        "text": "Amsterdam",
        "probability": 0.75,
    }


def test_tag_as_columns(capsys, tmp_path):
    said(capsys, "tag", f"{TEXT} Roth ran.", "--conll", "--out", "out.conll")
    (document,) = read_conll(tmp_path / "out.conll")
    assert len(document.sentences) == 2
    assert document.sentences[0].labels[:2] == ("B-PERSON", "I-PERSON")


# Files


def test_tag_a_file(capsys, tmp_path):
    (tmp_path / "film.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode() + b"\r\n\r\nBBC\r\n")
    (tmp_path / "film.txt.gz").write_bytes(gzip.compress(TEXT.encode() + b"\r\n\r\nBBC\r\n"))
    for name in ("film.txt", "film.txt.gz"):
        out = said(capsys, "tag", "--file", name)
        assert out == MARKED + "\r\n\r\n[ORGANIZATION BBC]\r\n"
        (*_, last) = map(json.loads, said(capsys, "tag", "--file", name, "--json").splitlines())
        assert (last["document"], last["start"], last["end"]) == (name, 38, 41)


def test_tag_a_long_file_in_blocks(capsys, tmp_path, recogniser, monkeypatch):
    text = "".join(f"Tim ran {i} times.\r\n\r\nBBC said so.\n\n" for i in range(100))
    (tmp_path / "long.txt").write_text(text, newline="")
    whole = {form: said(capsys, "tag", "--file", "long.txt", *form) for form in FORMS}
    recogniser.calls.clear()
    monkeypatch.setattr(
        "herded.cli.text_io.text_blocks", lambda pieces: tokenizer.text_blocks(pieces, 300)
    )
    for form in FORMS:
        assert said(capsys, "tag", "--file", "long.txt", *form) == whole[form]
    blocks = [block for block, _ in recogniser.calls]
    assert "".join(blocks) == text * len(FORMS) and max(map(len, blocks)) <= 300
    for line in whole["--json",].splitlines():
        value = json.loads(line)
        assert text[value["start"] : value["end"]] == value["text"]


FORMS = [(), ("--json",), ("--html",), ("--conll",)]


def test_a_file_is_read_block_by_block(tmp_path, recogniser):
    (tmp_path / "long.txt").write_text(("Tim ran. " * 9 + "\n\n") * 30_000)
    blocks = command.read_blocks("long.txt")
    assert len(next(blocks)) <= 1 << 20
    blocks.close()


def test_tag_standard_input(capsys, monkeypatch):
    standard_input(monkeypatch, TEXT.encode() + b" \xff\n")
    assert said(capsys, "tag", "--file", "-") == f"{MARKED} \ufffd\n"
    standard_input(monkeypatch, b"\xef\xbb\xbf\nTim\r\n")
    (line,) = said(capsys, "tag", "--file", "-", "--json").splitlines()
    assert json.loads(line) | {"document": "stdin", "start": 1, "end": 4} == json.loads(line)
    standard_input(monkeypatch, b"")
    assert said(capsys, "tag", "--file", "-") == ""
    standard_input(monkeypatch, gzip.compress(b"Tim"))
    assert "zcat" in fails(capsys, "tag", "--file", "-", "--html")
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input" in fails(capsys, "tag", "--file", "-", "--html")


def test_blocks_are_not_cut_within_the_end_of_a_line(tmp_path, monkeypatch):
    text = "\r\n\r\n \r a\r\r\n" * 5 + "\r"
    (tmp_path / "ends.txt").write_text(text, newline="")
    for limit in range(1, 20):
        monkeypatch.setattr(
            "herded.cli.text_io.text_blocks", lambda p, n=limit: tokenizer.text_blocks(p, n)
        )
        found = list(command.read_blocks("ends.txt"))
        assert "".join(found) == text
        assert not any(a[-1:] == "\r" and b[:1] == "\n" for a, b in pairwise(found))


def test_tag_odd_files(capsys, tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    assert said(capsys, "tag", "--file", "empty.txt") == ""
    (tmp_path / "latin.txt").write_bytes("Tim à Zürich".encode("latin-1"))
    assert said(capsys, "tag", "--file", "latin.txt") == "[PERSON Tim] \ufffd Z\ufffdrich\n"
    (tmp_path / "late.txt").write_bytes(b"word " * 20_000 + b"\0Tim\0")
    assert said(capsys, "tag", "--file", "late.txt").endswith("\ufffd[PERSON Tim]\ufffd\n")
    (tmp_path / "zero.txt").write_bytes(b"Tim met\0Ann")
    assert said(capsys, "tag", "--file", "zero.txt") == "[PERSON Tim] met\ufffdAnn\n"
    assert json.loads(said(capsys, "tag", "--file", "late.txt", "--json"))["start"] == 100_001
    (tmp_path / "zeros.txt").write_bytes("Tim Roth".encode("utf-16-le"))
    for form in FORMS:
        assert "binary" in fails(capsys, "tag", "--file", "zeros.txt", *form)
        assert "missing.txt" in fails(capsys, "tag", "--file", "missing.txt", *form, codes=[3])
        assert "directory" in fails(capsys, "tag", "--file", ".", *form)
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(os.urandom(9999))[:-200])
    fails(capsys, "tag", "--file", "cut.txt.gz")


def test_tag_an_odd_file_name(capsys, tmp_path):
    name = "<i>\x1b[31m.txt"
    (tmp_path / name).write_text("Tim")
    assert json.loads(said(capsys, "tag", "--file", name, "--json"))["document"] == name
    assert "&lt;i&gt;\\x1b[31m.txt" in said(capsys, "tag", "--file", name, "--html")


# Where it goes


def test_out_is_written_whole(capsys, tmp_path):
    assert said(capsys, "tag", "Tim ☃", "--out", "out.txt") == ""
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "[PERSON Tim] ☃\n"
    (tmp_path / "in.txt").write_text("Tim")
    said(capsys, "tag", "--file", "in.txt", "--out", "in.txt")
    assert (tmp_path / "in.txt").read_text() == "[PERSON Tim]\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_out_stays_as_it_was_if_anything_goes_wrong(capsys, tmp_path, recogniser, monkeypatch):
    (tmp_path / "out.txt").write_text("old")
    (tmp_path / "long.txt").write_text("Tim ran.\n\n" * 100)
    monkeypatch.setattr(
        "herded.cli.text_io.text_blocks", lambda pieces: tokenizer.text_blocks(pieces, 300)
    )
    tag = recogniser.tag

    def fail_later(text, **decoding):
        if len(recogniser.calls) > 1:
            raise MethodError("expected this, got that")
        return tag(text, **decoding)

    recogniser.tag = fail_later
    fails(capsys, "tag", "--file", "long.txt", "--out", "out.txt")
    assert (tmp_path / "out.txt").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.txt", "out.txt"]


def test_out_that_cannot_be_written(capsys, tmp_path):
    assert "no/out.txt" in fails(capsys, "tag", "Tim", "--out", "no/out.txt", codes=[3])
    assert "directory" in fails(capsys, "tag", "Tim", "--out", ".")
    fails(capsys, "tag", "Tim", "--out", "")
    fails(capsys, "tag", "Tim", "--out", "a\0b")
    assert list(tmp_path.iterdir()) == []


def test_out_leaves_links_and_devices_in_place(capsys, tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    said(capsys, "tag", "Tim", "--out", "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "[PERSON Tim]\n"
    (tmp_path / "null").symlink_to(os.devnull)
    said(capsys, "tag", "Tim", "--out", "null")
    assert not os.path.isfile(os.devnull) and (tmp_path / "null").is_symlink()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_out_on_a_full_disk(capsys):
    assert "No space" in fails(capsys, "tag", "Tim", "--out", "/dev/full", codes=[3])


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_one_ctrl_c_is_enough(capsys, tmp_path, recogniser, monkeypatch):
    (tmp_path / "long.txt").write_text("Tim ran.\n\n" * 100)
    monkeypatch.setattr(
        "herded.cli.text_io.text_blocks", lambda pieces: tokenizer.text_blocks(pieces, 300)
    )
    tag = recogniser.tag

    def interrupt(text, **decoding):
        os.kill(os.getpid(), signal.SIGINT)
        return tag(text, **decoding)  # as a sampler does: it ends in order

    recogniser.tag = interrupt
    before = signal.getsignal(signal.SIGINT)
    try:
        assert main(["ner", "tag", "--file", "long.txt", "--out", "out.txt"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert (
        len(recogniser.calls) == 1
        and capsys.readouterr().err == f"herded: interrupted{UNFINISHED_TEXT}\n"
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.txt"]


@pytest.fixture
def child(tmp_path):
    """Starts the command on a long file, with the fake, in a process of its own."""
    (tmp_path / "long.txt").write_text("Tim ran far away. " * 10_000)
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "import tests.support.fake_recogniser as here\n"
        "import herded.cli.commands.ner as command; command.load = lambda path: "
        "here.FakeRecogniser()\n"
        "sys.exit(here.main(['ner', 'tag', '--file', 'long.txt']))"
    )
    arguments = quick("python", "-c", program, str(Path(__file__).parents[2]))
    return lambda stdout: subprocess.Popen(arguments, stdout=stdout, stderr=subprocess.PIPE)


def test_a_reader_that_goes_away_is_no_error(child):
    with child(subprocess.PIPE) as running:
        assert running.stdout.readline(9) == b"[PERSON T"
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_standard_output_on_a_full_disk(child):
    with open("/dev/full", "wb") as full, child(full) as running:
        said_so = running.stderr.read().decode()
        assert said_so.startswith("herded: could not write") and said_so.count("\n") == 1
        assert running.wait(60) == 3


def test_a_file_without_its_option_gets_a_hint(tmp_path, capsys, monkeypatch):
    (tmp_path / "story.txt").write_text("Ann sang.")
    monkeypatch.chdir(tmp_path)
    assert main(["ner", "tag", "story.txt"]) == 0
    assert "--file story.txt" in capsys.readouterr().err
