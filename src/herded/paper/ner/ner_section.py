"""Section 4.3 of Bornn et al. (2013): named entity recognition, chains and skip-chains.

The paper's recogniser and its features are not available, so its absolute F1 is not comparable; the
order of the decoders is, and how close they come to Viterbi. Corpora: our own small one, which
comes with the package; IE-ER, the paper's, if NLTK has it; and files of chains evaluated by another
recogniser.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from herded.errors import CorpusError
from herded.ner.recogniser import load
from herded.ner.text.corpus import read_corpus
from herded.paper.ner.decoder_runs import (
    HERD_MEMBERS,
    HERD_NAME,
    ICM_SWEEPS,
    Row,
    chain_rows,
    herd_sweeps_for_updates,
    skip_rows,
)
from herded.paper.ner.example import annotate_text, skip_chain
from herded.paper.ner.tasks import (
    INSTALL_COMMAND,
    Task,
    find_ieer,
    sample_documents,
    stanford_task,
    tasks,
)
from herded.paper.report import (
    Figure,
    Passage,
    Section,
    Table,
    Verdict,
    prepare_folder,
    write_report,
)

PAPER_SCORES = (  # table 3: F1 [seconds] after 100, 400 and 800 sweeps
    ("Annealed Gibbs", "84.36 (0.16) [55.73]", "84.51 (0.10) [83.49]", "84.61 (0.05) [115.92]"),
    ("Herded Gibbs", "84.70 [59.08]", "84.75 [90.48]", "84.81 [132.00]"),
    ("Viterbi", "", "", "84.81 [46.74]"),
)
SIZES = {  # sweeps, seeds
    "quick": ((100, 400), 2),
    "default": ((100, 400), 3),
    "full": ((100, 400, 800), 5),
}
CHAIN_HEAD = ("method", "sweeps", "F1", "s.d.", "sentences = Viterbi's, %", "nats below", "CPU s")
SKIP_HEAD = ("method", "sweeps", "F1", "s.d.", "above the chain", "95 % of documents",
             "nats gained", "CPU s")  # fmt: skip
MAX_SCORE_GAP = 0.1  # F1: the paper has 84.75 after 400 sweeps, and Viterbi 84.81
TellStatus = Callable[[str], None]
SectionParts = list[Table | Figure | Passage]
SHARED_SWEEPS = (
    f"A sweep of the herd, which is not in the paper, moves all its {HERD_MEMBERS} members: its "
    f"rows have as many updates as those above them, or up to {HERD_MEMBERS - 1} fewer."
)


def section(size: str, tell: TellStatus, corpora: Sequence[str] = ()) -> Section:
    """Compare the decoders on corpora; by default on ours, and on IE-ER if NLTK has it."""
    counts, seeds = SIZES[size]
    found = None if size == "quick" else find_ieer()
    chosen = list(corpora) or ["sample", *([str(found)] if found else [])]
    recogniser = load()
    passage, verdict = annotate_text(recogniser)
    verdicts = [verdict]
    parts: SectionParts = [passage, _paper_table()]
    if find_spec("matplotlib"):  # `herded ner compare` does not need it
        parts.append(skip_chain(recogniser))
    for corpus in chosen:
        tell(f"reading {corpus}")
        if str(corpus).endswith(".npz"):
            _add_chains(stanford_task(corpus), counts, seeds, tell, parts, verdicts)
            continue
        name, documents = _documents(corpus)
        chains, skips = tasks(recogniser, documents, name)
        _add_chains(chains, counts, seeds, tell, parts, verdicts)
        _add_skips(skips, counts, seeds, tell, parts, verdicts)
    if not corpora and found is None:
        verdicts.append(
            Verdict(
                f"IE-ER, the paper's corpus, was not found: {INSTALL_COMMAND} installs it where it "
                "is expected, ~/nltk_data/corpora/ieer."
            )
        )
    return Section(
        title="Named entity recognition (section 4.3, table 3, figures 6 and 7)",
        text="Decoders of the same chain CRF, all from the same random labellings with the same "
        "scan, and of the skip-chain CRF, whose words are tied to their next mention in the "
        "document. The best sample is kept per sentence of a chain, per set of linked sentences "
        "of a skip-chain. The paper's recogniser is not available, so F1 is that of our model, "
        "which was trained on other corpora; the relations between the decoders are compared.",
        verdicts=verdicts,
        parts=parts,
    )


def compare(corpus: str | None, out: str, size: str, tell: TellStatus, command: str) -> Path:
    """Compare the decoders on one corpus, as a page of its own, for `herded ner compare`."""
    prepare_folder(Path(out))
    page = section(size, tell, [] if corpus is None else [corpus])
    for verdict in page.verdicts:
        print(verdict.text)
    return write_report([page], Path(out), command)


def _documents(corpus: str) -> tuple[str, list[Any]]:
    if corpus == "sample":
        return "our sample", sample_documents()
    path = Path(corpus)
    if not path.exists():
        raise CorpusError(
            f"expected a corpus at {path}, but there is none: {INSTALL_COMMAND} installs IE-ER"
        )
    documents = list(read_corpus(path))
    if any(part.labels is None for document in documents for part in document.sentences):
        raise CorpusError(f"expected labelled words in {path}, got plain text")
    return path.name, documents


def _paper_table() -> Table:
    return Table(
        "ner-paper",
        "The paper's own numbers: F1 [seconds], on IE-ER with the Stanford recogniser.",
        ["method", "100 sweeps", "400 sweeps", "800 sweeps"],
        PAPER_SCORES,
    )


def _add_chains(
    task: Task,
    counts: Sequence[int],
    seeds: int,
    tell: TellStatus,
    parts: SectionParts,
    verdicts: list[Verdict],
) -> None:
    rows = chain_rows(task, counts, seeds, tell)
    parts.append(
        Table(
            _slug(task.name),
            f"{task.name}, {task.n_words} words. Nats below: log-score below Viterbi's, "
            f"over all sentences. Means of {seeds} random starts, the same for all methods. "
            f"{SHARED_SWEEPS}",
            CHAIN_HEAD,
            [_chain_cells(task, row) for row in rows],
        )
    )
    if find_spec("matplotlib"):
        from herded.paper.ner.misses_figure import draw_misses

        caption = (
            f"{task.name}: how far the best samples are from Viterbi's labelling; 0 is at 0.01."
        )
        parts.append(Figure([draw_misses(task, rows)], caption))
    verdicts.append(_chain_verdict(task, rows, counts))


def _chain_cells(task: Task, row: Row) -> tuple[Any, ...]:
    mean, spread = row.f1(task)
    below = max(0.0, -row.nats(task, task.chain_best))  # rounding may put Viterbi above itself
    return (
        row.method,
        row.sweeps,
        f"{mean:.2f}",
        f"{spread:.2f}" if len(row.labels) > 1 else "",
        f"{row.hits(task):.2f}",
        f"{below:.1f}",
        f"{row.seconds:.2f}",
    )


def _chain_verdict(task: Task, rows: list[Row], counts: Sequence[int]) -> Verdict:
    middle = 400 if 400 in counts else counts[-1]
    herded = _pick(rows, "Herded Gibbs, best", middle)
    annealed = _pick(rows, "Annealed Gibbs, best", middle)
    viterbi = task.f1(task.chain_best)
    gap = herded.f1(task)[0] - viterbi
    plain = _pick(rows, "Gibbs, best", middle)
    above = herded.hits(task) > annealed.hits(task)
    order = "above" if above else "not above"
    return Verdict(
        f"{task.name}: after {middle} sweeps herded Gibbs is {gap:+.2f} F1 from Viterbi "
        f"({viterbi:.2f}) and finds Viterbi's labelling of {herded.hits(task):.2f} % of sentences, "
        f"{order} annealed Gibbs's {annealed.hits(task):.2f} %, in {herded.seconds:.1f} s of CPU "
        f"time against {annealed.seconds:.1f} s. Plain Gibbs, best sample kept, finds "
        f"{plain.hits(task):.2f} %.",
        f"Names, {task.name}: herded Gibbs is as accurate as Viterbi, and more so than annealed "
        "Gibbs at as many sweeps (table 3).",
        above and abs(gap) <= MAX_SCORE_GAP,
    )


def _add_skips(
    task: Task,
    counts: Sequence[int],
    seeds: int,
    tell: TellStatus,
    parts: SectionParts,
    verdicts: list[Verdict],
) -> None:
    assert task.rounds is not None
    first = [
        Row("Viterbi of the chain", 1, [task.chain_best], 0.0),
        Row("Viterbi by sentence, with ties", 1, [task.rounds], 0.0),
    ]
    random = [task.random_start(seed) for seed in range(seeds)]
    found = {}
    for title, starts in (
        ("random labellings", random),
        ("Viterbi's labelling", [task.chain_best]),
    ):
        rows = found[title] = first + skip_rows(task, counts, starts, seeds, tell)
        parts.append(
            Table(
                _slug(f"{task.name} from {title}"),
                f"{task.name} from {title}, {seeds} seeds. Above the chain: F1 minus that of the "
                "chain's Viterbi, first seed, with the interval of 95 % of resamples of the "
                f"documents. Nats gained: log-score above that of the chain's Viterbi. "
                f"{SHARED_SWEEPS}",
                SKIP_HEAD,
                [_skip_cells(task, row) for row in rows],
                folded=True,
            )
        )
    verdicts.append(Verdict(_skip_verdict(task, found["Viterbi's labelling"], counts)))
    verdicts.append(Verdict(_herd_verdict(task, found["random labellings"], counts)))


def _skip_cells(task: Task, row: Row) -> tuple[Any, ...]:
    mean, spread = row.f1(task)
    gain = task.gain(row.labels[0])
    return (
        row.method,
        row.sweeps,
        f"{mean:.2f}",
        f"{spread:.2f}" if len(row.labels) > 1 else "",
        f"{100 * gain.value:+.2f}",
        f"{100 * gain.low:+.2f} to {100 * gain.high:+.2f}",
        f"{row.nats(task, task.chain_best):+.0f}",
        f"{row.seconds:.2f}" if row.seconds else "",
    )


def _skip_verdict(task: Task, rows: list[Row], counts: Sequence[int]) -> str:
    middle = 400 if 400 in counts else counts[-1]
    herded = _pick(rows, "Herded Gibbs, best", middle)
    gain = task.gain(herded.labels[0])
    others = {
        "annealed Gibbs": _pick(rows, "Annealed Gibbs, best", middle),
        "annealed herding": _pick(rows, "Annealed herded, best", middle),
        f"an annealed herd of {HERD_MEMBERS}": _pick(
            rows, HERD_NAME, herd_sweeps_for_updates(middle)
        ),
        "ICM": _pick(rows, "ICM", ICM_SWEEPS),
        "Viterbi by sentence": _pick(rows, "Viterbi by sentence, with ties", 1),
    }
    comparison = ", ".join(
        f"{name} {row.f1(task)[0] - task.f1(task.chain_best):+.2f} and "
        f"{row.nats(task, task.chain_best):.1f}"
        for name, row in others.items()
    )
    return (
        f"{task.name}: herded Gibbs from Viterbi's labelling, {middle} sweeps, is "
        f"{100 * gain.value:+.2f} F1 ({100 * gain.low:+.2f} to {100 * gain.high:+.2f}) from the "
        f"chain's Viterbi and gains {herded.nats(task, task.chain_best):.1f} nats; {comparison}."
    )


def _herd_verdict(task: Task, rows: list[Row], counts: Sequence[int]) -> str:
    """Report the gain of the annealed herd from random labellings, and of the other methods."""
    gained = []
    for updates in counts:
        annealed = {
            "annealed Gibbs": _pick(rows, "Annealed Gibbs, best", updates),
            "annealed herding": _pick(rows, "Annealed herded, best", updates),
            f"the annealed herd of {HERD_MEMBERS}": _pick(
                rows, HERD_NAME, herd_sweeps_for_updates(updates)
            ),
        }
        gains = ", ".join(
            f"{name} {row.nats(task, task.chain_best):+.1f} nats in {row.seconds:.2f} s of CPU time"
            for name, row in annealed.items()
        )
        gained.append(f"{updates} updates: {gains}")
    return f"{task.name}, from random labellings: {'; '.join(gained)}."


def _pick(rows: list[Row], method: str, sweeps: int) -> Row:
    return next(row for row in rows if (row.method, row.sweeps) == (method, sweeps))


def _slug(name: str) -> str:
    kept = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
    return "ner-" + "-".join(part for part in kept.split("-") if part)
