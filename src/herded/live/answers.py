"""What Python answers: names in a text, and the tables of a model that was dropped on the page.

Each answer is a function from a request, an object of JSON, to an object. It checks what it gets,
and raises `HerdedError` with a sentence that the page shows.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from herded.errors import HerdedError, MethodError
from herded.live.nets import described, dropped_net, observed, tables
from herded.ner.recogniser import Entity, Recogniser, load

MOST_CHARACTERS = 20_000
MOST_CHAINS = 32
MOST_SEED = 2**31 - 1


def names(request: dict[str, Any]) -> dict[str, Any]:
    """The names in a text, each sentence by itself and with ties between mentions of a word."""
    text = _text(request, "text")
    if len(text) > MOST_CHARACTERS:
        raise MethodError(
            f"expected at most {MOST_CHARACTERS:,} characters, got {len(text):,}: herded ner tag "
            "takes texts of any length"
        )
    recogniser = _recogniser()
    return {
        "alone": [_spelt(entity) for entity in recogniser.tag(text)],
        "tied": [_spelt(entity) for entity in recogniser.tag(text, skip=True)],
    }


def model(request: dict[str, Any]) -> dict[str, Any]:
    """A model's names and neighbours, and its conditionals given what is observed."""
    name, content, given = (_text(request, word) for word in ("name", "content", "given"))
    chains, seed = _whole(request, "chains", 1, MOST_CHAINS), _whole(request, "seed", 0, MOST_SEED)
    net = dropped_net(name, content.encode("utf-8", "replace"))
    return {**described(net), "table": tables(observed(net, given), chains, seed)}


ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"names": names, "model": model}


def answer(name: str, request: object) -> tuple[int, dict[str, Any]]:
    """The status and the object that answers a request."""
    if not isinstance(request, dict):
        return 400, {"error": "expected an object"}
    try:
        return 200, ANSWERS[name](request)
    except HerdedError as error:
        return 422, {"error": str(error)}


@lru_cache(maxsize=1)
def _recogniser() -> Recogniser:
    return load()


def _spelt(entity: Entity) -> dict[str, Any]:
    return {
        "start": entity.start,
        "end": entity.end,
        "kind": entity.kind,
        "probability": entity.probability,
    }


def _text(request: dict[str, Any], name: str) -> str:
    found = request.get(name)
    if not isinstance(found, str):
        raise MethodError(f"expected {name} as a text, got {found!r:.80}")
    return found


def _whole(request: dict[str, Any], name: str, least: int, most: int) -> int:
    found = request.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise MethodError(f"expected {name} from {least} to {most}, got {found!r:.80}")
    return found
