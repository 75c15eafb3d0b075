"""The recogniser's speed, on the corpus that comes with the package, beside python-crfsuite.

Both learn the same labels from the same sentences; crfsuite gets features as strings, as its users
write them, of the same templates' kinds. Seconds are CPU time of one thread.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from herded import ner
from herded.ner.crf.encoded_batch import encode
from herded.ner.text.documents import Document
from herded.ner.text.word_atoms import Vocabulary
from herded.paper.ner.tasks import sample_documents

EPOCHS = 4


def lines(quick: bool) -> Iterator[str]:
    """Training, labelling and tagging, in words a second."""
    copies = 4 if quick else 20
    documents = sample_documents() * copies
    words = sum(document.n_words for document in documents)
    yield "## Names in text: words a second"
    yield ""
    yield f"Our sample corpus, {copies} times: {words} words; training makes {EPOCHS} epochs."
    yield ""
    yield "| work | herded | python-crfsuite |"
    yield "|---|---|---|"
    ours, peer = _ours(documents), _peer(documents)
    for work, seconds in ours.items():
        yield f"| {work} | {_rate(words, seconds)} | {_rate(words, peer.get(work))} |"


def _ours(documents: list[Document]) -> dict[str, float]:
    crf = ner.CRF(epochs=EPOCHS, progress=False)
    crf.fit(documents[:2])  # compiles
    trained = _seconds(lambda: crf.fit(documents))
    chain = crf.chain_.quantised()
    batch = encode([[s.words for s in d.sentences] for d in documents], Vocabulary(), None)
    recogniser = ner.load()
    text = "\n\n".join(" ".join(s.words) for d in documents for s in d.sentences)
    recogniser.tag(text[:1000])
    return {
        "training": trained,
        "sums of weights and Viterbi": _seconds(
            lambda: chain.best(chain.scores(batch), batch.starts), repeats=5
        ),
        "from words to labels": _seconds(lambda: crf.predict(documents), repeats=5),
        "from text to spans with probabilities": _seconds(lambda: recogniser.tag(text), repeats=5),
    }


def _peer(documents: list[Document]) -> dict[str, float]:
    """crfsuite's averaged perceptron, its quickest; nothing where it is not installed."""
    try:
        import pycrfsuite
    except ImportError:
        return {}
    sentences = [sentence for document in documents for sentence in document.sentences]
    featured = [[_features(s.words, i) for i in range(len(s.words))] for s in sentences]

    def train(path: str) -> None:
        trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
        trainer.set_params({"max_iterations": EPOCHS})
        for features, sentence in zip(featured, sentences, strict=True):
            trainer.append(features, sentence.labels)
        trainer.train(path)

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "crf")
        seconds = {"training": _seconds(lambda: train(path))}
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        seconds["sums of weights and Viterbi"] = _seconds(
            lambda: [tagger.tag(features) for features in featured]
        )
        seconds["from words to labels"] = _seconds(
            lambda: [
                tagger.tag([_features(s.words, i) for i in range(len(s.words))]) for s in sentences
            ]
        )
    return seconds


def _features(words: tuple[str, ...], i: int) -> list[str]:
    """What a user of crfsuite writes: the word, its affixes and shape, and its neighbours."""
    found = []
    for offset in (-2, -1, 0, 1, 2):
        word = words[i + offset] if 0 <= i + offset < len(words) else ""
        found += [f"{offset}={word.lower()}", f"{offset}:{_shape(word)}"]
    word = words[i].lower()
    found += [f"<{word[:k]}" for k in (1, 2, 3, 4)] + [f">{word[-k:]}" for k in (1, 2, 3, 4)]
    pairs = (words[i - 1].lower() if i else "", words[i + 1].lower() if i + 1 < len(words) else "")
    return [*found, f"{pairs[0]}|{word}", f"{word}|{pairs[1]}", f"{pairs[0]}|{pairs[1]}"]


def _shape(word: str) -> str:
    return "".join("X" if c.isupper() else "x" if c.islower() else "0" for c in word)[:4]


def _seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """The median of the CPU time."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return sorted(times)[len(times) // 2]


def _rate(words: int, seconds: float | None) -> str:
    return "" if seconds is None else f"{words / seconds:,.0f}"
