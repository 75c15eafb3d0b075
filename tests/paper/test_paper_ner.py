"""The experiment of section 4.3: its tasks, its rows, its words."""

from pathlib import Path

import numpy as np
import pytest

import herded as hd
from herded.errors import CorpusError
from herded.ner.recogniser import load
from herded.paper.ner import ner_section
from herded.paper.ner.decoder_runs import chain_rows, herd_sweeps_for_updates, skip_rows
from herded.paper.ner.tasks import find_ieer, sample_documents, stanford_task, tasks
from herded.paper.report import Table

SHARED = Path(__file__).parents[3] / "shared" / "data" / "ieer"


def quiet(what):
    pass


@pytest.fixture(scope="module")
def pair():
    return tasks(load(), sample_documents()[:4], "four")


def write_chains(path, lengths, seed=0, hard=False):
    """A file such as another recogniser would give: P(y_t | y_(t-1)) of each word."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    tables = rng.normal(size=(n, 4, 4)) * 2
    if hard:
        tables[:, 1, 2] = -np.inf
    tables -= np.log(np.exp(tables).sum(axis=2, keepdims=True))
    gold = rng.integers(0, 4, n)
    np.savez(path, lengths=np.array(lengths), gold=gold, logcond=tables.astype(np.float32))
    return tables.astype(np.float32).astype(float), gold


@pytest.mark.parametrize("hard", [False, True])
def test_chains_of_another_recogniser(tmp_path, hard):
    lengths = [1, 3, 2]
    tables, gold = write_chains(tmp_path / "chains.npz", lengths, hard=hard)
    task = stanford_task(tmp_path / "chains.npz")
    rng = np.random.default_rng(1)
    for _ in range(20):
        y = rng.integers(0, 4, 6)
        expected, before = 0.0, 0
        for at in range(6):
            before = 0 if at in (0, 1, 4) else y[at - 1]
            expected += tables[at, before, y[at]]
        score = task.model.log_score(y)
        assert score == pytest.approx(expected) or (score == expected == -np.inf)
    assert task.f1(gold) == 100 and task.hits(task.chain_best) == 100


def test_a_file_of_something_else(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(CorpusError, match="lengths, gold and logcond"):
        stanford_task(tmp_path / "other.npz")


def test_tasks_of_documents(pair):
    chains, skips = pair
    exact = hd.infer(chains.model, hd.Viterbi()).best
    assert chains.model.log_score(chains.chain_best) == pytest.approx(exact.log_score)
    assert len(chains.by_document(chains.chain_best)) == 4
    assert skips.model.n_factors > chains.model.n_factors  # there are links
    ties = skips.model.log_score(skips.rounds) - skips.model.log_score(skips.chain_best)
    assert ties >= 0


def test_rows_of_chains(pair):
    chains, _ = pair
    rows = {(row.method, row.sweeps): row for row in chain_rows(chains, (50,), 2, quiet)}
    assert len(rows) == 7
    viterbi, herded = rows["Viterbi", 1], rows["Herded Gibbs, best", 50]
    assert viterbi.hits(chains) == 100
    assert herded.nats(chains, chains.chain_best) <= 1e-9  # nothing is above the best
    best, last = rows["Annealed Gibbs, best", 50], rows["Annealed Gibbs, last", 50]
    base = chains.chain_best
    assert best.nats(chains, base) >= last.nats(chains, base) - 1e-9
    assert len(best.labels) == len(herded.labels) == 2
    herd = rows["Annealed herd of 16, best", 3]  # 48 updates, as many as go into 50
    assert herd.members == 16 and len(herd.labels) == 2
    assert herd.nats(chains, base) <= 1e-9


def test_rows_of_skip_chains(pair):
    _, skips = pair
    rows = {row.method: row for row in skip_rows(skips, (50,), [skips.chain_best], 2, quiet)}
    base = skips.chain_best
    herded, polished = rows["Herded Gibbs, best"], rows["Herded Gibbs, best, then ICM"]
    assert polished.nats(skips, base) >= herded.nats(skips, base) - 1e-9
    assert rows["ICM"].nats(skips, base) >= -1e-9  # it starts there and only climbs
    assert skips.gain(base).value == 0
    assert len(rows["Gibbs, best"].labels) == 2 and len(herded.labels) == 1
    herd = rows["Annealed herd of 16, best"]
    assert (herd.members, herd.sweeps, len(herd.labels)) == (16, 3, 2)  # it draws
    assert herd.nats(skips, base) >= rows["Gibbs, best"].nats(skips, base)


def test_the_section(monkeypatch, tmp_path):
    monkeypatch.setitem(ner_section.SIZES, "quick", ((20, 30), 2))
    write_chains(tmp_path / "chains.npz", [4, 5, 6])
    corpus = tmp_path / "tiny.conll"
    lines = [f"{w}\t{x}" for d in sample_documents()[:2] for s in d.sentences
             for w, x in [*zip(s.words, s.labels, strict=True), ("", "")]]  # fmt: skip
    corpus.write_text("\n".join(line.strip() for line in lines))
    part = ner_section.section("quick", quiet, [str(corpus), str(tmp_path / "chains.npz")])
    names = [table.name for table in part.parts if isinstance(table, Table)]
    assert len(part.parts) == len(names) + 4  # a text, a graph, a figure for each set of chains
    assert names[0] == "ner-paper" and len(names) == len(set(names)) == 5
    said = [verdict.text for verdict in part.verdicts]
    assert len(said) == 5 and all("%" in text or "nats" in text for text in said[1:])
    assert part.verdicts[0].holds is True


@pytest.mark.parametrize(("updates", "sweeps"), [(1, 1), (15, 1), (31, 1), (32, 2), (400, 25)])
def test_sweeps_of_the_annealed_herd(updates, sweeps):
    assert herd_sweeps_for_updates(updates) == sweeps


def test_where_ieer_is_looked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    (tmp_path / "corpora" / "ieer").mkdir(parents=True)
    assert find_ieer() == tmp_path / "corpora" / "ieer"


def test_a_corpus_that_is_not_there():
    with pytest.raises(CorpusError, match="nltk"):
        ner_section.section("quick", quiet, ["nowhere"])


@pytest.mark.skipif(not SHARED.exists(), reason="needs the chains of the Stanford recogniser")
@pytest.mark.parametrize(("name", "f1"), [("conll", 70.42), ("mix", 75.43)])
def test_viterbi_on_the_stanford_chains(name, f1):
    task = stanford_task(SHARED / f"stanford_crf_{name}_chains.npz")
    assert round(task.f1(task.chain_best), 2) == f1
