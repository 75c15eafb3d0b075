"""The kinds of diagnostics, each with its meaning: the one list of what a result may be told."""

from enum import StrEnum
from typing import Self


class DiagnosticKind(StrEnum):
    """What a diagnostic is about; a member equals its text, such as "short run".

    Examples
    --------
    >>> from herded.system.diagnostics.kinds import DiagnosticKind
    >>> DiagnosticKind.SHORT_RUN == "short run", DiagnosticKind.ONE_CHAIN.meaning
    (True, 'one chain or one herd ran alone, and cannot tell how far it is off')
    """

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """A member that is a string and knows its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    # of any run
    INTERRUPTED = "interrupted", "Ctrl-C ended the run"
    MEMORY = "memory", "samples or series reached the limit of memory and ended the run"
    # of chains
    PLAN = "plan", "the pilot was too short to tell how fast the model mixes"
    ONE_CHAIN = "one chain", "one chain or one herd ran alone, and cannot tell how far it is off"
    DISAGREEMENT = "disagreement", "chains differ by more than chance explains"
    IMMOBILITY = "immobility", "members of a herd are still where they were"
    CONFINEMENT = "confinement", "hard zeros keep chains from states that the model allows"
    SPLIT_SUPPORT = "split support", "hard zeros cut the possible states into separate classes"
    SHORT_RUN = "short run", "the run has few autocorrelation times of some quantity"
    FEW_ROUND_TRIPS = "few round trips", "replicas of a ladder seldom crossed it and came back"
    HALVES_DIFFER = "halves differ", "the two halves of the run have different means"
    EQUAL_STARTS = "equal starts", "all chains started from the same state"
    START_MATTERS = "start matters", "herds from random starts give another answer"
    # of ladders of temperatures, and of log Z by them
    LADDER = "ladder", "no replica travelled from the hottest rung to the coldest"
    LOG_Z_ROUND_TRIPS = "log z round trips", "log Z rests on few round trips"
    LOG_Z_UNKNOWN = "log z unknown", "no state of the rung above the coldest was possible"
    LOG_Z_HALVES = "log z halves", "the two halves of the run give different values of log Z"
    LOG_Z_DIRECTIONS = "log z directions", "log Z differs from hot to cold and from cold to hot"
    # of models given by functions
    PLAIN_FUNCTIONS = "plain functions", "the model's functions could not be compiled and are slow"
    NO_JOINT = "no joint distribution", "the conditionals belong to no joint distribution"
    # of belief propagation and mean field
    NO_CONVERGENCE = "no convergence", "the solver has not converged"
    HARD_ZEROS = "hard zeros", "mean field is a heuristic where there are hard zeros"
    FEW_DIGITS = "few digits", "large log-potentials leave few digits of log Z"
    SAMPLER_DIFFERS = "sampler differs", "a short run of herds gives another answer"
    SAMPLER_FAILED = "sampler failed", "the short run of herds could not be done"
    SAMPLER_UNMIXED = "sampler unmixed", "the short run of herds does not mix"
    NOT_CROSS_CHECKED = "not cross-checked", "the model is too large for a quick run of herds"
    EXACT_LOG_Z = "exact log z", "elimination is quick and gives log Z exactly"
    LOG_Z_BOUND = "log z bound", "log Z is a lower bound, and nothing is known of its distance"
    BETHE_LOG_Z = "bethe log z", "log Z is Bethe's estimate, without a bound of its error"
    BETHE_TOO_LOW = "bethe too low", "Bethe's estimate is below a lower bound of log Z"


CONFINEMENT_KINDS = frozenset({DiagnosticKind.CONFINEMENT, DiagnosticKind.SPLIT_SUPPORT})
