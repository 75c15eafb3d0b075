"""Results for people: a few lines of text, and a page's worth of HTML for notebooks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from herded.errors import MethodError
from herded.models.naming import state_label, variable_label
from herded.models.summary import count_text
from herded.system.html import html_table

if TYPE_CHECKING:
    from herded.run.result import Result

MAX_TABLE_ROWS = 10  # variables of a table
MAX_TABLE_STATES = 4


def result_text(result: "Result") -> str:
    """Describe the run, its records and its diagnostics."""
    lines = [f"Result of {_method(result)}: {_length(result)}"]
    lines += [f"  {name:9} {text}" for name, text in _summary_rows(result)]
    return "\n".join(lines)


def result_html(result: "Result") -> str:
    """Return the same, with a table of the first marginals."""
    parts = [html_table(f"Result of {_method(result)}: {_length(result)}", _summary_rows(result))]
    if result.kept.get("chain_marginals") is not None:
        parts.append(html_table("", _marginals(result), head=True))
        more = result.model.n_variables - MAX_TABLE_ROWS
        if more > 0:
            parts.append(f"<p>... and {count_text(more, 'more variable')}</p>")
    return "".join(parts)


def _method(result: "Result") -> str:
    return repr(result.method) if result.method is not None else "a run"


def _length(result: "Result") -> str:
    facts = result.provenance
    seconds = f"{facts.get('seconds', 0.0):.2g} s"
    stopped = ", interrupted" if facts.get("interrupted") else ""
    if result.converged is not None:
        after = f"not converged after {count_text(result.sweeps, 'sweep')}"
        return (seconds if result.converged else after) + stopped
    burn_in = facts.get("burn_in", 0)
    after = f" after a burn-in of {burn_in:,}" if burn_in else ""
    chains, members = facts.get("chains", 1), facts.get("members", 1)
    many = (
        f"{count_text(chains, 'herd')} of {members}" if members > 1 else count_text(chains, "chain")
    )
    return f"{count_text(result.sweeps, 'sweep')}{after}, {many}, {seconds}{stopped}"


def _summary_rows(result: "Result") -> Iterator[tuple[str, str]]:
    kept = result.kept
    yield "model", repr(result.model).partition("\n")[0]  # other lines are tables of a Bayes net
    if result.reason:
        yield "reason", result.reason
    for step in result.escalation if len(result.escalation) > 1 else ():
        yield "tried", str(step)
    if kept.get("chain_marginals") is not None:
        yield "marginals", f"{_shape(result.marginals)}{_spread(result)}"
    if kept.get("log_z") is not None:
        low, high = result.log_z_interval if "bridged" in kept else (0.0, 0.0)
        reach = f" +- {(high - low) / 2:.2g}, a 99 % interval" if "bridged" in kept else ""
        yield "log Z", f"{result.log_z:.8g}{reach}"
    if kept.get("best") is not None:
        yield "best", f"log-score {result.best.log_score:.8g}"
    if kept.get("samples") is not None:
        yield "samples", _shape(result.samples)
    for name, observed in (kept.get("observables") or {}).items():
        yield name, observed.described()
    if kept.get("curve") is not None and len(kept["curve"].sweeps):
        yield "curve", f"error {kept['curve'].errors[:, -1].mean():.3g} at the end"
    for sentence in result.warnings:
        yield "warning", sentence


def _shape(array: np.ndarray) -> str:
    return " x ".join(f"{size:,}" for size in array.shape)


def _spread(result: "Result") -> str:
    """Return how sure marginals are, where several chains tell."""
    try:
        return f", standard error at most {float(result.standard_error.max()):.2g}"
    except MethodError:
        return ""


def _marginals(result: "Result") -> Iterator[tuple[str, ...]]:
    """Return headings, and the most probable states of the first variables."""
    yield "variable", "state: probability"
    model, means = result.model, result.chain_marginals.mean(axis=0)
    for i in range(min(MAX_TABLE_ROWS, model.n_variables)):
        own = means[i, : int(model.cardinalities[i])]
        order = np.argsort(-own, kind="stable")[:MAX_TABLE_STATES]
        cells = [f"{state_label(model, i, int(k))}: {own[k]:.4f}" for k in order]
        label = variable_label(model, i)
        name = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        yield name, ", ".join(cells) + (", ..." if len(own) > len(order) else "")
