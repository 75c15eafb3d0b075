"""Figures 6 and 7 of Bornn et al. (2013): a skip-chain as a graph, and a text with its names."""

from itertools import pairwise

import numpy as np

from herded.ner.crf.encoded_batch import encode
from herded.ner.crf.mention_links import next_mention
from herded.ner.recogniser import Entity, Recogniser
from herded.ner.text.corpus import document_of
from herded.ner.text.labels import split_label
from herded.ner.text.word_atoms import Vocabulary
from herded.paper.report import Figure, Passage, Verdict
from herded.system.figures import (
    GIBBS_COLOUR,
    HERDED_COLOUR,
    OTHER_COLOURS,
    SHARED_COLOUR,
    subplots,
    svg,
    with_plot_style,
)

TEXT = (
    "The painter Amanda Plummer opened a show in Amsterdam on Tuesday. Tim Roth, who runs the "
    "gallery, had seen her work in Paris and in Berlin. The money came from the World Bank and "
    "from the University of Utrecht, said Plummer, and nobody asked Roth for more."
)
SHORT_TEXT = "Amanda Plummer met Roth . Plummer thanked Roth ."
SHOWN_DECODERS = {"Viterbi": "viterbi", "Gibbs": "gibbs", "herded Gibbs": "herded"}
ENTITY_COLOURS = {
    "PERSON": HERDED_COLOUR,
    "LOCATION": OTHER_COLOURS[0],
    "ORGANIZATION": SHARED_COLOUR,
}


def annotate_text(recogniser: Recogniser) -> tuple[Passage, Verdict]:
    """Mark the text by herded Gibbs, and check whether the other methods agree."""
    found = {
        name: recogniser.tag(TEXT, decoder=decoder) for name, decoder in SHOWN_DECODERS.items()
    }
    spans = {name: [(e.start, e.end, e.kind) for e in found[name]] for name in found}
    same = all(spans[name] == spans["Viterbi"] for name in spans)
    counted = ", ".join(f"{name} {len(spans[name])}" for name in spans)
    passage = Passage(
        _pieces(found["herded Gibbs"]),
        "A text of ours, with its names as found by herded Gibbs (400 sweeps): person, location, "
        "organization.",
    )
    claim = "A short text: Gibbs, herded Gibbs and Viterbi give the same annotation (figure 7)."
    text = f"The three {'agree' if same else 'differ'} on our text; names found: {counted}."
    return passage, Verdict(text, claim, same)


def _pieces(entities: list[Entity]) -> list[tuple[str, str | None]]:
    pieces: list[tuple[str, str | None]] = []
    done = 0
    for entity in entities:
        pieces += [(TEXT[done : entity.start], None), (entity.text, entity.kind)]
        done = entity.end
    return [*pieces, (TEXT[done:], None)]


def skip_chain(recogniser: Recogniser) -> Figure:
    """Draw the graph of two short sentences, words below and labels above."""
    sentences = [sentence.words for sentence in document_of(SHORT_TEXT).sentences]
    batch = encode([sentences], Vocabulary(), recogniser.chain.lexicon)
    labels = recogniser.chain.best(recogniser.chain.scores(batch), batch.starts)
    kinds = [split_label(recogniser.chain.labels[label])[1] for label in labels]
    words = [word for sentence in sentences for word in sentence]
    return Figure(
        [_draw(words, kinds, batch.starts, next_mention(batch).edges)],
        "A skip-chain of two short sentences. Each word has a label (circle), which depends on the "
        "adjacent labels and, across the arcs, on that of the word's next mention. Red labels are "
        "persons, green ones locations.",
    )


@with_plot_style
def _draw(words: list[str], kinds: list[str], starts: np.ndarray, links: np.ndarray) -> str:
    figure, axis = subplots(1, 1, width=4.4, height=2.1)
    for first, last in pairwise(starts):
        axis.plot([first, last - 1], [1, 1], color="#6b7280", zorder=1)
    for place, (word, kind) in enumerate(zip(words, kinds, strict=True)):
        low = 0.33 - 0.2 * (place % 2)  # words are long, so every other one is lower
        axis.plot([place, place], [low + 0.05, 1], color="#d1d5db", zorder=1)
        axis.plot(place, 1, "o", ms=12, color=ENTITY_COLOURS.get(kind, "#cbd5e1"), zorder=2)
        axis.annotate(word, (place, low), ha="center", va="top")
    turn = np.linspace(0, np.pi, 40)
    for first, last in links:
        middle, half = (first + last) / 2, (last - first) / 2
        axis.plot(
            middle - half * np.cos(turn), 1 + 0.17 * half * np.sin(turn) + 0.1, color=GIBBS_COLOUR
        )
    axis.set(ylim=(-0.1, 1.8), xlim=(-0.6, len(words) - 0.4))
    axis.set_axis_off()
    return svg(figure)
