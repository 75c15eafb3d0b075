"""The sentence of every kind of diagnostic."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from herded.system.diagnostics import sampler_texts, solver_texts
from herded.system.diagnostics.kinds import DiagnosticKind as Kind
from herded.system.diagnostics.text import Text

if TYPE_CHECKING:
    from herded.system.diagnostics.diagnostic import Diagnostic

TEXTS: "dict[Kind, Callable[[Diagnostic], Text]]" = {
    Kind.INTERRUPTED: sampler_texts.interrupted,
    Kind.MEMORY: sampler_texts.memory,
    Kind.PLAN: sampler_texts.plan,
    Kind.ONE_CHAIN: sampler_texts.one_chain,
    Kind.DISAGREEMENT: sampler_texts.disagreement,
    Kind.IMMOBILITY: sampler_texts.immobility,
    Kind.CONFINEMENT: sampler_texts.confinement,
    Kind.SPLIT_SUPPORT: sampler_texts.split_support,
    Kind.SHORT_RUN: sampler_texts.short_run,
    Kind.FEW_ROUND_TRIPS: sampler_texts.few_round_trips,
    Kind.HALVES_DIFFER: sampler_texts.halves_differ,
    Kind.EQUAL_STARTS: sampler_texts.equal_starts,
    Kind.START_MATTERS: sampler_texts.start_matters,
    Kind.LADDER: sampler_texts.ladder,
    Kind.LOG_Z_ROUND_TRIPS: sampler_texts.log_z_round_trips,
    Kind.LOG_Z_UNKNOWN: sampler_texts.log_z_unknown,
    Kind.LOG_Z_HALVES: sampler_texts.log_z_halves,
    Kind.LOG_Z_DIRECTIONS: sampler_texts.log_z_directions,
    Kind.PLAIN_FUNCTIONS: sampler_texts.plain_functions,
    Kind.NO_JOINT: sampler_texts.no_joint,
    Kind.NO_CONVERGENCE: solver_texts.no_convergence,
    Kind.HARD_ZEROS: solver_texts.hard_zeros,
    Kind.FEW_DIGITS: solver_texts.few_digits,
    Kind.SAMPLER_DIFFERS: solver_texts.sampler_differs,
    Kind.SAMPLER_FAILED: solver_texts.sampler_failed,
    Kind.SAMPLER_UNMIXED: solver_texts.sampler_unmixed,
    Kind.NOT_CROSS_CHECKED: solver_texts.not_cross_checked,
    Kind.EXACT_LOG_Z: solver_texts.exact_log_z,
    Kind.LOG_Z_BOUND: solver_texts.log_z_bound,
    Kind.BETHE_LOG_Z: solver_texts.bethe_log_z,
    Kind.BETHE_TOO_LOW: solver_texts.bethe_too_low,
}


def text_of(diagnostic: "Diagnostic") -> Text:
    """The sentence of a diagnostic, made of its figures, names and remedy."""
    return TEXTS[diagnostic.kind](diagnostic)
