"""The model of a command, read from its file with the evidence that was given."""

import argparse
from typing import Any

import numpy as np

from herded.cli.terminal_output import STANDARD_INPUT_NAME, printable
from herded.errors import FileError, ModelError
from herded.io.model_files import read_model
from herded.io.uai_evidence import read_evidences
from herded.models import summary
from herded.models.evidence import IndexEvidence
from herded.models.factor_graph import to_factor_graph
from herded.models.naming import state_index, variable_index
from herded.models.protocol import Model

STANDARD_INPUT = "/dev/stdin"


def read_model_and_evidence(options: argparse.Namespace) -> Model:
    """Read MODEL with --evidence and --given."""
    path = STANDARD_INPUT if options.model == STANDARD_INPUT_NAME else options.model
    model = read_model(path, max_memory=options.max_memory)
    if options.sample is not None and options.evidence is None:
        raise ModelError("expected --evidence with --sample, got none: name the evidence file")
    if options.evidence is not None:
        model = model.given(_sample(options))
    return model.given(_pairs(model, options.given)) if options.given else model


def _sample(options: argparse.Namespace) -> dict[int, int]:
    """Return the evidence of the file, or of one of its samples."""
    samples, number = read_evidences(options.evidence), options.sample
    if number is None and len(samples) != 1:
        raise FileError(
            f"expected the evidence of one sample in {options.evidence}, got {len(samples)}: say "
            "which with --sample N, counted from 0"
        )
    if number is not None and not 0 <= number < len(samples):
        raise FileError(
            f"expected --sample from 0 to {len(samples) - 1} for {options.evidence}, got {number}"
        )
    return samples[number or 0]


def _pairs(model: Model, given: list[str]) -> dict[Any, Any]:
    evidence = IndexEvidence()
    for text in given:
        name, state = _split(model, text)
        named = model.names is not None and name in model.names
        i = variable_index(model, int(name) if not named and name.isdecimal() else name)
        known = model.state_names and state in model.state_names[i]
        value = state_index(
            model, i, name, int(state) if not known and state.isdecimal() else state
        )
        if i in evidence:
            raise ModelError(f"expected --given {name} once, got it twice")
        if model.evidence[i] not in (-1, value):
            raise ModelError(
                f"expected --given {name} to agree with --evidence, where it is "
                f"{state_name(model, i, int(model.evidence[i]))}, got {state}: drop one of them"
            )
        evidence[i] = value
    return evidence


def _split(model: Model, text: str) -> tuple[str, str]:
    """Split NAME=STATE; both may contain "=", so NAME must be a known name."""
    places = [k for k, letter in enumerate(text) if letter == "=" and k]
    if not places:
        raise ModelError(f"expected --given NAME=STATE, got {text!r}")
    known = [k for k in places if model.names is not None and text[:k] in model.names]
    k = (known or places)[-1]
    return text[:k], text[k + 1 :]


def model_line(options: argparse.Namespace, model: Model) -> str:
    """Describe a model on one line."""
    line = summary.one_line_summary(model, to_factor_graph(model).n_factors)
    return f"{printable(options.model, 200)}: {line}"


def variable_name(model: Model, i: int) -> str:
    """Name a variable as the file does, or by number, or by its place in a picture."""
    if model.names:
        return printable(model.names[i])
    if len(model.shape) > 1:
        return ",".join(str(int(p)) for p in np.unravel_index(i, model.shape))
    return str(i)


def state_name(model: Model, i: int, k: int) -> str:
    """Name a state as the file does, or by number."""
    return printable(model.state_names[i][k]) if model.state_names else str(k)
