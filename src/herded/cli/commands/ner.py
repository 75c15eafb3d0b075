"""`herded ner`: mark names in text, score and train models, compare decoders."""

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from herded.cli.text_io import STANDARD_STREAM_NAME, open_output, read_blocks, whole_characters
from herded.errors import CorpusError
from herded.ner import rendering
from herded.ner.crf.decoding import chosen_decoder
from herded.ner.entity_scoring import Interval, Score, bootstrap, score
from herded.ner.recogniser import Recogniser, load
from herded.ner.text.corpus import read_corpus
from herded.ner.text.documents import Document
from herded.ner.text.labels import ENTITY_CLASSES
from herded.run.interrupts import stop_all_runs_on_interrupt

MIN_DOCUMENTS = 5  # documents for an interval
MIN_SENTENCES = 100  # sentences for one where documents are too few
TRAINING_OPTIONS = ("dev", "column", "scheme", "epochs", "rate", "l2", "dropout", "seed", "bits")


def ner(options: argparse.Namespace) -> int:
    """Do the action that was named; help if none was."""
    actions = {"tag": tag, "eval": evaluate, "train": train, "compare": compare}
    if options.action is None:
        options.help()
    else:
        actions[options.action](options)
    return 0


def tag(options: argparse.Namespace) -> None:
    """Mark the names in a text and write it."""
    recogniser = load(options.model)
    if options.file is None:
        name, texts = "text", iter([whole_characters(options.text)])
        if os.path.isfile(options.text):
            print(f"herded: to tag the file: herded ner tag --file {options.text}", file=sys.stderr)
    else:
        name = "stdin" if options.file == STANDARD_STREAM_NAME else Path(options.file).name
        texts = read_blocks(options.file)
    blocks = _start_first_block(_tag_pieces(recogniser, texts, _decoding(options)))
    pieces = _render_pieces(blocks, recogniser.kinds, name, options)
    with open_output(options.out) as write:
        for piece in pieces:
            write(piece)


def _tag_pieces(
    recogniser: Recogniser, texts: Iterable[str], decoding: dict[str, Any]
) -> Iterator[rendering.Block]:
    for text in texts:
        # a sampler alone would end its sweeps, and the rest go on
        with stop_all_runs_on_interrupt():
            entities = recogniser.tag(text, **decoding)
        yield text, entities


def _start_first_block(blocks: Iterator[rendering.Block]) -> Iterator[rendering.Block]:
    """Make the first block now, so that errors come before any output."""
    return itertools.chain(list(itertools.islice(blocks, 1)), blocks)


def _render_pieces(
    blocks: Iterable[rendering.Block], kinds: Sequence[str], name: str, options: argparse.Namespace
) -> Iterator[str]:
    if options.json:
        return rendering.json_lines(blocks, name)
    if options.html:
        return rendering.html_page(blocks, kinds, name)
    if options.conll:
        return rendering.conll_columns(blocks)
    colours = rendering.colours_of(sys.stdout) if options.out is None else None
    if colours is not None:
        return rendering.colour_entities(blocks, kinds, colours)
    return rendering.bracket_entities(blocks)


def evaluate(options: argparse.Namespace) -> None:
    """Score a model on labelled documents."""
    recogniser = load(options.model)
    documents = _read_labelled(options, recogniser.kinds)
    truth = [[sentence.labels or () for sentence in each.sentences] for each in documents]
    guess, seconds = _decode_and_time(recogniser, documents, _decoding(options))
    result = score(list(itertools.chain(*truth)), list(itertools.chain(*guess)))
    unit, interval = _interval(truth, guess)
    words = sum(document.n_words for document in documents)
    if options.json:
        print(json.dumps(_values(options, documents, words, seconds, result, unit, interval)))
        return
    print(result)
    if interval is not None:
        print(f"F1 {interval}: 95 % of resamples of the {unit}")
    print(
        f"{len(documents)} document{'s'[: len(documents) > 1]}, {words} words, "
        f"{options.decoder}: {seconds:.2f} s of CPU time, "
        f"{words / seconds:.0f} words per second of it"
    )


def _interval(truth: list[Any], guess: list[Any]) -> tuple[str | None, Interval | None]:
    """Return the unit of resampling and the interval of F1: documents, or sentences if few."""
    if len(truth) >= MIN_DOCUMENTS:
        return "documents", bootstrap(truth, guess)
    apart = [[labels] for document in truth for labels in document]
    if len(apart) < MIN_SENTENCES:
        return None, None
    return "sentences", bootstrap(apart, [[labels] for document in guess for labels in document])


def _read_labelled(options: argparse.Namespace, kinds: Sequence[str]) -> list[Document]:
    """Return the documents, with the model's names for kinds where it has the common ones."""
    path = Path(options.corpus)
    if not path.exists() and (options.format == "ieer" or "ieer" in path.name.lower()):
        raise CorpusError(
            f"expected IE-ER documents at {path}, but there are none: get them by "
            '"pip install nltk && python -m nltk.downloader ieer" and give ~/nltk_data/corpora/ieer'
        )
    common = {name: kind for name, kind in ENTITY_CLASSES.items() if kind in kinds}
    mapping = common if set(kinds) <= set(common.values()) else None
    found = read_corpus(path, options.format, column=options.column, mapping=mapping)
    documents = [document for document in found if document.sentences]
    for document in documents:
        if any(sentence.labels is None for sentence in document.sentences):
            raise CorpusError(
                f"expected labelled documents in {path}, got {document.name} without labels: "
                "give --format conll or ieer if it has any"
            )
    if not documents:
        raise CorpusError(f"expected labelled words in {path}, got none")
    return documents


def _decode_and_time(
    recogniser: Recogniser, documents: list[Document], decoding: dict[str, Any]
) -> tuple[list[list[tuple[str, ...]]], float]:
    """Return labels by document and sentence, and the CPU seconds of decoding."""
    list(recogniser.tag_documents(documents[:1], **decoding))  # compiling is not counted
    began = time.process_time()
    with stop_all_runs_on_interrupt():
        labels = list(recogniser.tag_documents(documents, **decoding))
    return labels, max(time.process_time() - began, 1e-9)


def _values(
    options: argparse.Namespace,
    documents: list[Document],
    words: int,
    seconds: float,
    result: Score,
    unit: str | None,
    interval: Interval | None,
) -> dict[str, Any]:
    return {
        "corpus": options.corpus,
        **_decoding(options),
        "documents": len(documents),
        "words": words,
        "cpu_seconds": seconds,
        "words_per_second": words / seconds,
        **_numbers(result),
        "f1_interval": None if interval is None else [interval.low, interval.high],
        "resampled": unit,
        "kinds": {kind: _numbers(part) for kind, part in result.kinds.items()},
    }


def _numbers(part: Score) -> dict[str, float]:
    names = ("precision", "recall", "f1", "support")
    return {name: getattr(part, name) for name in names}


def _decoding(options: argparse.Namespace) -> dict[str, Any]:
    options.decoder = chosen_decoder(options.decoder)
    return {name: getattr(options, name) for name in ("decoder", "skip", "sweeps", "seed")}


def train(options: argparse.Namespace) -> None:
    """Train a model on labelled documents."""
    from herded.ner import training

    chosen = {name: getattr(options, name) for name in TRAINING_OPTIONS}
    given = {name: value for name, value in chosen.items() if value is not None}
    facts = training.train_and_save(options.corpora, out=options.out, **given)
    print(training.training_summary(facts))
    print(f"wrote {options.out}, {facts['bytes'] / 1e6:.1f} MB")


def compare(options: argparse.Namespace) -> None:
    """Compare the decoders, as the paper does."""
    from herded.cli.commands.paper import StatusLine, experiment_size
    from herded.paper.ner import ner_section as experiment

    size = experiment_size(options)
    with StatusLine() as tell, stop_all_runs_on_interrupt():
        page = experiment.compare(options.corpus, options.out, size, tell, options.command_line)
    print(f"wrote {page}")
