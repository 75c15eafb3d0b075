"""The purposes of random streams: the last number in `stream_key(seed, chain, purpose)`.

Two parts of one run draw independent numbers because their keys end in different purposes. The
values are part of every result, so they never change. This module is apart from `counter_rng.py`,
which kernels take in: a new purpose compiles nothing again.
"""

from typing import Final


class StreamPurpose:
    """One name for each use of random numbers, whose value is the purpose in its keys.

    Names may share a value where `SHARED_VALUES` says why no run mixes their streams. A new purpose
    takes a value that is free.
    """

    # -- runs of samplers: (seed, chain, purpose) --------------------------------------------------

    DRAWS: Final = 1
    """Draws of Gibbs chains, one for each visit; ties and slack of herding in time."""
    WEIGHTS_AND_SCANS: Final = 2
    """Where weights of herding in time and kept phases of herds start; random orders of visits."""
    START_STATES: Final = 3
    """Where chains and members start."""
    HERD_PHASES: Final = 4
    """Phases of systematic draws, one for each visit of a herd."""
    MEMBER_ORDERS: Final = 5
    """Which order of the members a visit takes, and the tables of orders (with seed 0)."""
    REPLICA_EXCHANGES: Final = 6
    """Exchanges between the rungs of a ladder."""
    LADDER_SCANS: Final = 7
    """Random orders of visits in a ladder."""
    LADDER_STARTS: Final = 8
    """Where the replicas above the coldest rung start."""
    LEARNED_BLOCK_MOVES: Final = 9
    """Moves of the coldest replicas by blocks that are learned during a run."""

    # -- preparation and checks of runs ------------------------------------------------------------

    PILOT: Final = 6
    """The seed and the starts of the pilot of `recommend`."""
    RECOMMENDATION: Final = 6
    """Starts from which `recommend` looks for walls of hard zeros."""
    CROSS_CHECK: Final = 7
    """The seed of the herds that check a solver, a function of no other seed."""
    BLOCK_TIES: Final = 8
    """Ties in the choice of the block with a given number: (number, purpose)."""
    CALLBACK_CHECKS: Final = 9
    """Variables whose callback functions are compared: (chain, sweep, purpose)."""
    TRACED_VARIABLES: Final = 11
    """Variables and pairs whose traces diagnostics read: (0, purpose)."""

    # -- learning: (seed, 0, purpose), or the number of an epoch instead of 0 ----------------------

    MIXTURE_STARTS: Final = 3
    """First partitions of a Dirichlet mixture."""
    MIXTURE_MOVES: Final = 6
    """Splits and merges of clusters."""
    SELECTION_STARTS: Final = 3
    """First models of variable selection."""
    SELECTION_EXCHANGES: Final = 6
    """Exchanges of columns in variable selection."""
    HERD_MOMENT_STARTS: Final = 11
    """Where the herds start that estimate moments in `fit`."""
    UNKNOWN_ENTRIES: Final = 12
    """Draws of missing and hidden entries of data in `fit`."""
    HELD_OUT_ROWS: Final = 13
    """Rows that `fit` holds out."""
    BATCH_ORDER: Final = 14
    """The order of rows in an epoch of `fit`."""
    PARAMETER_JITTER: Final = 15
    """First parameters of hidden variables in `fit`."""
    RBM_WEIGHTS: Final = 16
    """First weights of a restricted Boltzmann machine."""
    RBM_HERD: Final = 17
    """Phases (with chain 0) and orders of members (1) of its herd."""
    RBM_ROW_ORDER: Final = 18
    """The order of rows in one of its epochs."""
    RBM_HERD_STARTS: Final = 19
    """Rows at which its herd starts."""
    MACHINE_SAMPLES: Final = 20
    """Where samples of a Boltzmann machine start."""
    STRUCTURE_HELD_OUT_ROWS: Final = 21
    """Rows that the search for a structure holds out."""
    CURVATURE_DIRECTION: Final = 22
    """The direction in which the curvature of an objective is estimated."""
    TAGGER_SENTENCE_ORDER: Final = 1
    """The order of sentences in an epoch of a tagger: (seed, epoch, purpose)."""
    TAGGER_DROPOUT: Final = 2
    """Features that an epoch of a tagger leaves out: (seed, epoch, purpose)."""

    # -- Bayes nets: (seed, variable, purpose) -----------------------------------------------------

    ANCESTRAL_SAMPLES: Final = 23
    """Rows that are drawn from a net, parents before their children."""

    # -- pages and benchmarks ----------------------------------------------------------------------

    PICTURE_NOISE: Final = 6
    """Noise that the live page adds to a picture; `picture.js` has the same value."""
    BENCHMARK_ORDERS: Final = 9
    """Herds of the benchmark that compares orders and phases: (seed, purpose)."""
    BENCHMARK_SAMPLERS: Final = 77
    """Samplers that only benchmarks have."""


SHARED_VALUES: Final = {
    1: "A tagger trains on sentences, where nothing is sampled.",
    2: "A tagger trains on sentences, where nothing is sampled.",
    3: "Mixtures and variable selection have kernels of their own and start no chain of a model.",
    6: "Mixtures, variable selection and pictures have no ladder. Pilots and recommendations come "
    "before the run and start single herds, whose states are not used in it.",
    7: "Cross-checks begin at seed 0 of a herd and have no ladder.",
    8: "Ties take a key of two numbers, and decide blocks, not states.",
    9: "Checks choose which functions are compared, and change no state. The benchmark's herds "
    "have no ladder.",
    11: "Traces choose variables to look at, and change no state.",
}
"""Why it is harmless that several purposes have the same value."""
