"""Answers from Python: the tables of a pasted text, and of a dropped model.

Each answer is a function from a request, a JSON object, to an object. It checks the request and
raises `HerdedError` with a sentence that the page shows.
"""

from collections.abc import Callable
from typing import Any

from herded.errors import HerdedError, MethodError
from herded.live.model_tables import (
    conditional_tables,
    describe_model,
    page_chain_starts,
    read_dropped_model,
    with_evidence,
)
from herded.live.text_tables import MAX_TIE_STRENGTH, described_text, parse_pasted_text, text_model

MAX_CHAINS = 32
MAX_SEED = 2**31 - 1


def text_answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the words of a text, and the conditionals of their labels at a strength of ties."""
    text, strength = _text(request, "text"), _number(request, "ties", 0.0, MAX_TIE_STRENGTH)
    words = parse_pasted_text(text)
    model = text_model(words, strength)
    return {**described_text(words), "table": conditional_tables(model, [[0] * model.n_variables])}


def model_answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return a model's names and neighbours, and its conditionals given the evidence."""
    name, content, given = (_text(request, word) for word in ("name", "content", "given"))
    chains, seed = (
        _integer_field(request, "chains", 1, MAX_CHAINS),
        _integer_field(request, "seed", 0, MAX_SEED),
    )
    net = read_dropped_model(name, content.encode("utf-8", "replace"))
    seen = with_evidence(net, given)
    return {
        **describe_model(net),
        "table": conditional_tables(seen, page_chain_starts(seen, chains, seed)),
    }


RESPONDERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "names": text_answer,
    "model": model_answer,
}


def respond(name: str, request: object) -> tuple[int, dict[str, Any]]:
    """Answer a request with a status and an object."""
    if not isinstance(request, dict):
        return 400, {"error": "expected an object"}
    try:
        return 200, RESPONDERS[name](request)
    except HerdedError as error:
        return 422, {"error": str(error)}


def _text(request: dict[str, Any], name: str) -> str:
    found = request.get(name)
    if not isinstance(found, str):
        raise MethodError(f"expected {name} as a text, got {found!r:.80}")
    return found


def _integer_field(request: dict[str, Any], name: str, least: int, most: int) -> int:
    found = request.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise MethodError(f"expected {name} from {least} to {most}, got {found!r:.80}")
    return found


def _number(request: dict[str, Any], name: str, least: float, most: float) -> float:
    found = request.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found <= most:
        raise MethodError(
            f"expected {name} as a number from {least:g} to {most:g}, got {found!r:.80}"
        )
    return float(found)
