"""The report of `herded infer`: text for people, JSON for programs."""

import argparse
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from herded.cli import model_input
from herded.cli.command_wording import warning_texts
from herded.cli.reference_errors import Reference, ReferenceErrors
from herded.cli.run_setup import RunSetup
from herded.cli.terminal_output import (
    after_infer,
    align_columns,
    count_text,
    finite_or_none,
    format_facts,
    more_rows_text,
    printable,
)
from herded.errors import MethodError
from herded.models import naming
from herded.models.protocol import Model
from herded.run.diagnostics.intervals import t_quantile_95
from herded.run.result import Result
from herded.system.diagnostics.kinds import DiagnosticKind

MAX_REPORT_ROWS = 20
MAX_LISTED_STATES = 4  # of a variable with more, the most probable
MAX_REPORT_COLUMNS = 6  # states that are shown side by side
NO_INTERVAL_REASONS = (
    "unknown from a single chain: use --chains 4",
    "unknown: all chains are identical, so their spread gives no interval",
)
DIAGNOSTIC_TITLES = {
    "exact": "exact",
    "bp": "Bethe's estimate, not a bound",
    "mean-field": "a lower bound",
    "tempered": "by a ladder of temperatures",
}


@dataclass(frozen=True)
class InferReport:
    """The results of a run and all that is known about them."""

    model: Any
    setup: RunSetup
    options: argparse.Namespace
    result: Result
    shown: tuple[str, ...]  # warnings that were printed as the run went on
    remarks: tuple[str, ...]  # on the reference and the time, which only a command knows
    marginals: np.ndarray | None = None  # (N, K)
    standard_error: np.ndarray | None = None  # (N, K)
    margin: np.ndarray | None = None  # (N, K): how far 95 % intervals reach to each side
    is_controlled: bool = False  # whether the bias of herding was looked for
    errors: ReferenceErrors | None = None
    state: np.ndarray | None = None  # (N,)
    log_score: float | None = None
    log_z: float | None = None
    log_z_interval: tuple[float, float] | None = None

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return bool(self.result.provenance["interrupted"])

    @property
    def seconds(self) -> float:
        """The duration of the run."""
        return float(self.result.provenance["seconds"])

    def warning_texts(self, *without: DiagnosticKind) -> tuple[str, ...]:
        """Return the diagnostics of the run, in terms of the command's options."""
        unshown = (DiagnosticKind.INTERRUPTED, *without)
        return warning_texts(self.result, self.options, unshown)

    def as_text(self) -> str:
        """Return the answer, then what to think of it."""
        if self.marginals is not None:
            lines = marginal_table(self.model, self.marginals, self.margin, MAX_REPORT_ROWS)
        elif self.state is not None:
            lines = _state_lines(self.model, self.state)
        else:
            lines = []
        before = [("time", self._time())]
        if len(self.result.escalation) > 1:
            before += [("tried", printable(str(step), 300)) for step in self.result.escalation]
            before.append(("answered", f"by {self.setup.choice.name}"))
        text = [*format_facts(before), *lines, *format_facts(self._judged())]
        return "\n".join(text).rstrip()

    def _time(self) -> str:
        done = f"{self.result.sweeps:,} sweeps in " if self.setup.choice.name != "exact" else ""
        return f"{done}{self.seconds:.2f} s"

    def _judged(self) -> list[tuple[str, str]]:
        named = []
        if self.log_score is not None:
            proved = "the best there is" if self.setup.choice.name == "exact" else "the best found"
            named.append(("log-score", f"{self.log_score:.10g}, {proved}"))
        if self.log_z is not None:
            kind = DIAGNOSTIC_TITLES[self.setup.choice.name]
            named.append(("log10 Z", f"{self.log_z / math.log(10):.10g}, {kind}"))
            named.append(("log Z", f"{self.log_z:.10g}{self._log_z_margin()}"))
        if self.margin is not None:
            reach, n = self._free(self.margin), self.setup.chains
            named.append(
                (
                    "error",
                    f"95 % intervals: +- {reach.mean():.2g} on average, {reach.max():.2g} at most, "
                    "from the spread of "
                    f"{count_text(n, 'chain' if self.setup.herd == 1 else 'herd')} "
                    f"({t_quantile_95(n):.3g} standard errors){self._bias()}",
                )
            )
        elif self.marginals is not None and self.setup.samples:
            named.append(("error", NO_INTERVAL_REASONS[self.setup.chains > 1]))
        if self.errors is not None:
            e = self.errors
            named.append(
                (
                    "reference",
                    f"mean absolute error {e.mean_absolute:.3g}, at most {e.largest:.3g}, "
                    f"Hellinger {e.hellinger:.3g}",
                )
            )
        texts = self.warning_texts(DiagnosticKind.ONE_CHAIN)  # as `NO_INTERVAL_REASONS` says
        named += [
            ("warning", printable(text, len(text))) for text in (*self.shown, *texts, *self.remarks)
        ]
        then = after_infer(self.options, self)
        return named + ([("next", printable(then, len(then)))] if then else [])

    def _log_z_margin(self) -> str:
        if self.log_z_interval is None:
            return ""
        low, high = self.log_z_interval
        return f" +- {(high - low) / 2:.2g}, a 99 % interval"

    def _bias(self) -> str:
        """Describe how intervals of herding in time allow for its bias."""
        if self.is_controlled:
            return " and the distance from a control without the bias of herding"
        return ": a bias that they share is not in it" if self.setup.in_time else ""

    def _free(self, table: np.ndarray) -> np.ndarray:
        """Return the entries that stand for something unknown."""
        real = np.arange(table.shape[1]) < self.model.cardinalities[:, None]
        found: np.ndarray = table[real & (self.model.evidence < 0)[:, None]]
        return found

    def as_json(self) -> str:
        """Return the whole report as one JSON object."""
        found: dict[str, Any] = {
            "model": self.options.model,
            "variables": self.model.n_variables,
            "observed": int((self.model.evidence >= 0).sum()),
            "task": self.options.task,
            "method": self.setup.choice.name,
            "reason": self.setup.choice.reason or None,
            "settings": self.setup.settings(),
            "sweeps": self.result.sweeps,
            "burn_in": self.setup.burn_in,
            "chains": self.setup.chains,
            "resumed": None if self.setup.checkpoint is None else self.setup.checkpoint.to_dict(),
            "seconds": self.seconds,
            "memory": self.setup.memory,
            "interrupted": self.is_interrupted,
            "escalation": [step.to_dict() for step in self.result.escalation],
            "warnings": [*self.shown, *self.warning_texts(), *self.remarks],
        }
        if self.log_z is not None:
            found["log_z"] = finite_or_none(self.log_z)
            found["log10_z"] = finite_or_none(self.log_z / math.log(10))
            found["log_z_is"] = DIAGNOSTIC_TITLES[self.setup.choice.name]
            if self.log_z_interval is not None:
                found["log_z_interval"] = [finite_or_none(end) for end in self.log_z_interval]
        if self.state is not None:
            found["log_score"] = finite_or_none(self.log_score)
            found["state"] = self.state.tolist()
        if self.errors is not None:
            found["reference"] = asdict(self.errors)
        if self.standard_error is not None:
            spread = self._free(self.standard_error)
            found["standard_error"] = {"mean": float(spread.mean()), "max": float(spread.max())}
            found["standard_errors"] = self._rows(self.standard_error)
        if self.margin is not None:
            reach = self._free(self.margin)
            found["interval"] = {
                "level": 0.95,
                "mean": float(reach.mean()),
                "max": float(reach.max()),
                "controlled": self.is_controlled,
            }
            found["margins"] = self._rows(self.margin)
        if self.marginals is not None:
            found["marginals"] = self._rows(self.marginals)
        if self.model.names:
            found["names"] = list(self.model.names)
            found["named"] = self._named()
        if self.model.state_names:
            found["state_names"] = [list(names) for names in self.model.state_names]
        return json.dumps(found, allow_nan=False)

    def _named(self) -> dict[str, Any] | None:
        """Return the answer by the names of variables and states."""
        if self.state is not None:
            return naming.named_state(self.model, self.state)
        if self.marginals is None:
            return None
        rows = enumerate(self.marginals)
        return {self.model.names[i]: naming.named_row(self.model, i, row) for i, row in rows}

    def _rows(self, table: np.ndarray) -> list[list[float]]:
        """Return a row for each variable, as long as it has states."""
        cards = self.model.cardinalities.tolist()
        return [row[:k] for row, k in zip(table.tolist(), cards, strict=True)]


def build_report(
    model: Model,
    setup: RunSetup,
    options: argparse.Namespace,
    result: Result,
    reference: Reference | None,
    shown: list[str],
) -> InferReport:
    """Collect from a result what the task asks for."""
    common: dict[str, Any] = {
        "result": result,
        "shown": tuple(shown),
        "remarks": tuple(_time_remarks(setup)),
    }
    if options.task == "pr":
        bridged = result.log_z_interval if setup.choice.name == "tempered" else None
        return InferReport(
            model, setup, options, log_z=result.log_z, log_z_interval=bridged, **common
        )
    if options.task == "map":
        state, score = result.best.state.reshape(-1), result.best.log_score
        return InferReport(model, setup, options, state=state, log_score=score, **common)
    marginals = result.marginals.reshape(model.n_variables, -1)
    if reference is not None:
        common["remarks"] += tuple(reference.warnings(marginals))
    return InferReport(
        model,
        setup,
        options,
        marginals=marginals,
        standard_error=(spread := _standard_error(setup, result)),
        margin=None if spread is None else result.half_widths(),
        is_controlled="control" in result.kept,
        errors=reference.errors(marginals) if reference else None,
        **common,
    )


def _time_remarks(setup: RunSetup) -> list[str]:
    """Return warnings that only the options of this command cause."""
    if setup.out_of_time and setup.checkpoint is not None:
        return [
            f"no sweep was added: --seconds {setup.seconds:g} count from the first start, and the "
            f"checkpoint has run {setup.checkpoint.seconds:.2f} s already; give a larger --seconds"
        ]
    return []


def _standard_error(setup: RunSetup, result: Result) -> np.ndarray | None:
    """Return the standard errors of several chains that differ."""
    if not setup.samples:
        return None
    try:
        return result.standard_error.reshape(int(np.prod(result.shape)), -1)
    except MethodError:
        return None


def _state_lines(model: Model, state: np.ndarray) -> list[str]:
    """Return a variable and its state per line."""
    rows = [
        (model_input.variable_name(model, i), model_input.state_name(model, i, int(state[i])))
        for i in range(min(len(state), MAX_REPORT_ROWS))
    ]
    more = len(state) - len(rows)
    lines = align_columns([("variable", "state"), *rows], left=2)
    return ["", *lines, *more_rows_text(more), ""]


# -- marginals: a variable per line, in columns where states are few ------------------------------


def marginal_table(
    model: Model, marginals: np.ndarray, margin: np.ndarray | None, most_rows: int
) -> list[str]:
    """Return the first `most_rows` variables, and how many more there are."""
    shown = min(model.n_variables, most_rows)
    width = int(model.cardinalities.max())
    names = _common_states(model, width)
    if names is not None:
        rows = [["variable", *names]]
        rows += [_row(model, i, marginals) for i in range(shown)]
    else:
        rows = [["variable", "state: probability"]]
        rows += [_list(model, i, marginals) for i in range(shown)]
    if margin is not None:
        largest = margin.max(axis=1)
        rows[0].append("+-")
        for row, error in zip(rows[1:], largest, strict=False):
            row.append(f"{error:.5f}")
    lines = align_columns(rows, left=1 if names is not None else 2)
    return ["", *lines, *more_rows_text(model.n_variables - shown), ""]


def _common_states(model: Model, width: int) -> list[str] | None:
    """Return headings for states, where all variables share the same few."""
    if width > MAX_REPORT_COLUMNS:
        return None
    if model.state_names is None:
        return [str(k) for k in range(width)]
    first = model.state_names[0]
    return [printable(name) for name in first] if set(model.state_names) == {first} else None


def _row(model: Model, i: int, marginals: np.ndarray) -> list[str]:
    """Return a variable and the probabilities of its states, in columns."""
    states = range(marginals.shape[1])
    known = int(model.cardinalities[i])
    return [
        model_input.variable_name(model, i),
        *(f"{marginals[i, k]:.5f}" if k < known else "" for k in states),
    ]


def _list(model: Model, i: int, marginals: np.ndarray) -> list[str]:
    """Return a variable and its states, the most probable ones where they are many."""
    known = int(model.cardinalities[i])
    order = np.arange(known)
    if known > MAX_REPORT_COLUMNS:
        order = np.argsort(-marginals[i, :known], kind="stable")[:MAX_LISTED_STATES]
    cells = [f"{model_input.state_name(model, i, int(k))}: {marginals[i, k]:.5f}" for k in order]
    if known > len(order):
        cells.append("...")
    return [model_input.variable_name(model, i), ", ".join(cells)]
