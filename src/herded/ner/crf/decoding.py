"""Decoders, which label the words of documents: exactly in chains, by sampling in skip-chains.

The best sample is kept for each connected component: a sentence of a chain, or a set of linked
sentences of a skip-chain. The best sample of a whole document would have to be good in every
sentence at once, and no sample is.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method, Sampler
from herded.models.factor_graph import FactorGraph
from herded.ner.crf.chain_weights import ChainWeights
from herded.ner.crf.encoded_batch import Batch
from herded.ner.crf.iterated_viterbi import iterate_viterbi
from herded.ner.crf.skip_chain import TieWeights, build_document_model
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.recorders import Marginals


def zero_temperature(sweep: int, total: int) -> float:
    """Return temperature 0, at which each word takes its best label (iterated modes)."""
    return 0.0


def _herded_decoder(seed: int, linked: bool) -> HerdedGibbs:
    # A word with links has so many contexts that only those that occur get a weight.
    return HerdedGibbs("lazy" if linked else "blanket", phases="half", seed=seed)


DECODER_SAMPLERS: dict[str, Callable[[int, bool], Sampler]] = {
    "herded": _herded_decoder,
    "gibbs": lambda seed, linked: Gibbs(seed=seed),
    "annealed": lambda seed, linked: Gibbs(seed=seed, schedule="linear"),
    "annealed-herded": lambda seed, linked: HerdedGibbs(
        "lazy", phases="half", seed=seed, schedule="linear"
    ),
    "icm": lambda seed, linked: Gibbs(seed=seed, schedule=zero_temperature),
}
RANDOM_DECODERS = ("gibbs", "annealed")
DECODERS = ("viterbi", "max-marginals", *DECODER_SAMPLERS)


def chosen_decoder(name: str | None) -> str:
    """Return the decoder of that name; the default is Viterbi, which is exact in chains.

    In skip-chains Viterbi is iterated: its F1 equals that of annealed herding, in a small fraction
    of the time.
    """
    if name is None:
        return "viterbi"
    check_decoder(name)
    return name


def check_decoder(name: str) -> None:
    """Raise unless there is such a decoder."""
    if name not in DECODERS:
        raise MethodError(f"expected a decoder of {', '.join(DECODERS)}, got {name!r}")


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def decode(
    chain: ChainWeights,
    batch: Batch,
    scores: np.ndarray,
    *,
    decoder: str = "viterbi",
    ties: TieWeights | None = None,
    sweeps: int = 400,
    seed: int = 0,
    start: ArrayLike | None = None,
) -> np.ndarray:
    """Return labels (N,) of the batch's words.

    decoder   "viterbi": the best labelling of a chain; in a skip-chain, sentence by sentence in
              rounds. "max-marginals": the most probable label of each word, exact in chains,
              by herded Gibbs in skip-chains. The others: the best of `sweeps` samples
    start     labels (N,) at which samplers start; by default the chain's best labelling
    """
    check_decoder(decoder)
    if not len(scores):
        return np.zeros(0, np.int64)
    if decoder == "viterbi":
        if ties is not None:
            return iterate_viterbi(chain, batch, scores, ties)
        return chain.best(scores, batch.starts)
    if decoder == "max-marginals" and ties is None:
        likely: np.ndarray = chain.marginals(scores, batch.starts).argmax(axis=1)
        return likely
    model = build_document_model(chain, batch, scores, ties)
    first = chain.best(scores, batch.starts) if start is None else start
    if decoder == "max-marginals":
        method = _herded_decoder(seed, True)
        found = infer(model, method, sweeps=sweeps, start=first, keep=[Marginals()])
        best: np.ndarray = found.marginals.argmax(axis=1)
        return best
    return best_sample(model, DECODER_SAMPLERS[decoder](seed, ties is not None), sweeps, first)


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def best_sample(
    model: FactorGraph, method: Method, sweeps: int, start: ArrayLike | None
) -> np.ndarray:
    """Return the best state of each connected component during a run."""
    found = infer(model, method, sweeps=sweeps, start=start, keep=[BestState()])
    return found.best.state
