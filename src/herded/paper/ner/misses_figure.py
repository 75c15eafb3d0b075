"""A plot of how far the decoders of section 4.3 are from the best labelling, by updates."""

from collections.abc import Sequence

from herded.paper.ner.decoder_runs import HERD_NAME, Row
from herded.paper.ner.tasks import Task
from herded.system.figures import (
    GIBBS_COLOUR,
    HERDED_COLOUR,
    OTHER_COLOURS,
    subplots,
    svg,
    with_plot_style,
)

LINES = {
    "Annealed Gibbs, best": OTHER_COLOURS[0],
    "Gibbs, best": GIBBS_COLOUR,
    "Herded Gibbs, best": HERDED_COLOUR,
    HERD_NAME: OTHER_COLOURS[1],
}


@with_plot_style
def draw_misses(task: Task, rows: Sequence[Row]) -> str:
    """Draw nats below Viterbi after each number of updates, one line for each method."""
    figure, axis = subplots(1, 1, width=4.2, height=3)
    for method, colour in LINES.items():
        chosen = [row for row in rows if row.method == method]
        below = [max(1e-2, -row.nats(task, task.chain_best)) for row in chosen]
        updates = [row.sweeps * row.members for row in chosen]
        axis.loglog(updates, below, "o-", color=colour, label=method)
    axis.set(xlabel="updates of each word", ylabel="nats below Viterbi")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return svg(figure)
