"""`herded ner eval`, `train` and `compare`: tables and numbers, and what is passed on."""

import json
import re

import pytest

from herded.cli.main import main
from tests.support.fake_recogniser import fails, installed, said


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def recogniser(monkeypatch):
    return installed(monkeypatch)


# Scores

COLUMNS = """-DOCSTART- O

Tim B-PER
Roth I-PER
sings O

BBC B-ORG
News I-ORG
in O
Paris B-LOC
with O
Titanic B-MISC
"""


def labelled(tmp_path, copies=1):
    path = tmp_path / "news.conll"
    path.write_text(COLUMNS * copies)
    return "news.conll"


def test_eval(capsys, tmp_path, recogniser):
    out = said(capsys, "eval", labelled(tmp_path))
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:5]}
    assert rows == {
        "LOCATION": ["0.0000", "0.0000", "0.0000", "1"],
        "ORGANIZATION": ["0.0000", "0.0000", "0.0000", "1"],
        "PERSON": ["1.0000", "1.0000", "1.0000", "1"],
        "all": ["0.5000", "0.3333", "0.4000", "3"],
    }
    said_last = r"1 document, 9 words, viterbi: .* s of CPU time, \d+ words per second of it"
    assert re.fullmatch(said_last, out.split("\n")[5])
    assert recogniser.calls[-1][1] == {
        "decoder": "viterbi", "skip": False, "sweeps": 400, "seed": 0,
    }  # fmt: skip


def test_eval_with_an_interval(capsys, tmp_path):
    out = said(capsys, "eval", labelled(tmp_path, 4))
    assert "resamples" not in out and "4 documents" in out
    out = said(capsys, "eval", labelled(tmp_path, 5), "--format", "conll", "--decoder", "icm")
    assert "F1 0.4000 (0.4000 to 0.4000): 95 % of resamples of the documents\n5 documents" in out
    assert "icm" in out


def test_an_interval_without_documents(capsys, tmp_path):
    """Where none begins, sentences are drawn: a hundred of them, or none."""
    sentences = COLUMNS.partition("\n\n")[2] + "\n"  # two of them
    for copies, wanted in ((49, None), (50, "sentences")):
        (tmp_path / "plain.conll").write_text(sentences * copies)
        value = json.loads(said(capsys, "eval", "plain.conll", "--json"))
        assert value["documents"] == 1 and value["resampled"] == wanted
        assert (value["f1_interval"] is None) == (wanted is None)
    low, high = value["f1_interval"]
    assert low < value["f1"] < high
    assert "95 % of resamples of the sentences" in said(capsys, "eval", "plain.conll")


def test_eval_as_json(capsys, tmp_path):
    out = said(capsys, "eval", labelled(tmp_path, 5), "--json", "--skip", "--sweeps", "9")
    value = json.loads(out)
    assert value["documents"] == 5 and value["words"] == 45 and value["corpus"] == "news.conll"
    assert value["f1"] == pytest.approx(0.4) and value["f1_interval"] == pytest.approx([0.4, 0.4])
    assert value["kinds"]["PERSON"] == {"precision": 1, "recall": 1, "f1": 1, "support": 5}
    assert (value["decoder"], value["skip"], value["sweeps"]) == ("viterbi", True, 9)
    assert value["words_per_second"] == pytest.approx(45 / value["cpu_seconds"])
    assert json.loads(said(capsys, "eval", labelled(tmp_path), "--json"))["f1_interval"] is None
    assert value["resampled"] == "documents"


def test_eval_by_another_column(capsys, tmp_path):
    (tmp_path / "x.conll").write_text("Tim\tB-PER\tNNP\nran\tO\tVBD\n")
    assert "PERSON     1.0000" in said(capsys, "eval", "x.conll", "--column", "1")
    assert "PERSON     1.0000" in said(capsys, "eval", "x.conll", "--column", "-2")


def test_eval_of_a_model_with_kinds_of_its_own(capsys, tmp_path, recogniser):
    recogniser.kinds = ("PER", "MISC")
    out = said(capsys, "eval", labelled(tmp_path))
    assert {line.split()[0] for line in out.splitlines()} >= {"PER", "MISC", "ORG", "PERSON"}
    recogniser.kinds = ("PERSON",)
    out = said(capsys, "eval", labelled(tmp_path))
    assert "ORG " not in out and "LOC " not in out


def test_eval_of_the_ieer(capsys, tmp_path):
    (tmp_path / "ieer").mkdir()
    (tmp_path / "ieer" / "NEWS").write_text(
        '<DOC>\n<DOCNO> N1 </DOCNO>\n<TEXT>\n<b_enamex type="PERSON">Tim Roth<e_enamex> ran.\n'
        "</TEXT>\n</DOC>\n"
    )
    assert "all        1.0000  1.0000  1.0000        1" in said(capsys, "eval", "ieer")


def test_eval_wrong_files(capsys, tmp_path):
    assert "nltk.downloader ieer" in fails(capsys, "eval", "no", "--format", "ieer")
    assert "nltk.downloader ieer" in fails(capsys, "eval", "nltk_data/corpora/ieer")
    assert "nltk" not in fails(capsys, "eval", "missing.conll")
    (tmp_path / "plain.txt").write_text("Tim Roth ran home.\nAnd so on.\n")
    assert "labels" in fails(capsys, "eval", "plain.txt")
    (tmp_path / "empty.conll").write_text("")
    fails(capsys, "eval", "empty.conll")
    (tmp_path / "blank").mkdir()
    fails(capsys, "eval", "blank")
    labelled(tmp_path)
    fails(capsys, "eval", "news.conll", "--column", "5")


# Training and comparing: the arguments


FACTS = {
    "words": 1234,
    "labels": ("O", "PER"),
    "history": [{"loss": 0.5}, {"loss": 0.25, "f1": 0.75}],
    "bytes": 2_345_678,
    "ties": None,
}


@pytest.fixture
def recipe(monkeypatch):
    """What `herded.ner.training` was asked for."""
    from herded.ner import training

    asked = []
    monkeypatch.setattr(training, "train_and_save", lambda *a, **k: asked.append((a, k)) or FACTS)
    return asked


def test_train(capsys, recipe):
    out = said(capsys, "train", "a.conll", "b", "--out", "m.npz")
    assert recipe == [((["a.conll", "b"],), {"out": "m.npz"})]
    assert out == (
        "1234 words, labels O PER\nepoch 1: loss 0.5000\nepoch 2: loss 0.2500, f1 0.7500\n"
        "too few documents for --skip: only a chain was trained\nwrote m.npz, 2.3 MB\n"
    )


def test_train_passes_its_options_on(capsys, recipe):
    options = (
        "--dev c --column 1 --scheme bio --epochs 3 --rate 0.2 --l2 0 --dropout 0.1 --seed 0 "
        "--bits 18"
    )
    said(capsys, "train", "a", "--out", "m", *options.split())
    chosen = {"scheme": "bio", "epochs": 3, "rate": 0.2, "l2": 0.0, "dropout": 0.1, "seed": 0}
    assert recipe == [((["a"],), {"dev": "c", "column": 1, "out": "m", "bits": 18, **chosen})]


@pytest.mark.parametrize("arguments", [[], ["--dev", "b"]])
def test_train_on_what(arguments, capsys, recipe):
    with pytest.raises(SystemExit):
        main(["ner", "train", *arguments, "--out", "m"])
    assert "arguments are required: CORPUS" in capsys.readouterr().err
    assert recipe == []


def test_train_then_tag_and_score(capsys, tmp_path, monkeypatch):
    """All of it for real: a small model learns what it is shown."""
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    both = "Tim B-PER\nRoth I-PER\nsang O\n\nthe O\nBBC B-ORG\nplays O\n\n"
    (tmp_path / "news.conll").write_text(f"-DOCSTART- O\n\n{both}{both}" * 5)
    out = said(capsys, "train", "news.conll", "--out", "m.npz", "--bits", "10", "--epochs", "20")
    assert "labels O ORG PER" in out and "epoch 20: loss" in out and "too few documents" in out
    tagged = said(capsys, "tag", "Tim Roth sang\n\nthe BBC plays", "--model", "m.npz")
    assert tagged == "[PER Tim Roth] sang\n\nthe [ORG BBC] plays\n"
    (*_, last) = said(capsys, "tag", "the BBC plays", "--model", "m.npz", "--json").splitlines()
    assert 0.5 < json.loads(last)["probability"] <= 1
    out = said(capsys, "eval", "news.conll", "--model", "m.npz")
    assert "all     1.0000  1.0000  1.0000       20\n" in out


def test_compare(capsys, monkeypatch):
    from herded.paper.ner import ner_section as experiment

    asked = []

    def compare(corpus, out, size, tell, command):
        tell("reading")  # a spinner on a terminal, and nothing here
        asked.append((corpus, out, size, command))
        return f"{out}/index.html"

    monkeypatch.setattr(experiment, "compare", compare)
    assert said(capsys, "compare") == "wrote herded-ner/index.html\n"
    said(capsys, "compare", "ieer", "--out", "there", "--quick")
    assert asked == [
        (None, "herded-ner", "default", "herded ner compare"),
        ("ieer", "there", "quick", "herded ner compare ieer --out there --quick"),
    ]
