"""Recognisers on disk: arrays and a JSON header in one .npz, without pickle.

Rows of zero weights are not written: `present` has a bit for each row, and `weights` holds the
others, label by label, which compresses well.
"""

import json
import os
from typing import Any

import numpy as np

from herded.errors import CorpusError, MemoryLimitError
from herded.ner.crf.chain_weights import ChainWeights
from herded.ner.text.labels import OUTSIDE, split_label
from herded.ner.text.lexicon import Lexicon
from herded.system import atomic_files, memory_limits
from herded.system.argument_checks import is_number_between, is_whole_number
from herded.system.npz_reader import read_arrays

RECOGNISER_FORMAT = 2  # format 1 had at most four lists of names
MAX_BITS = 28
MIN_SCALE, MAX_NUMBER = 1e-60, 1e60  # sums of larger numbers could overflow


def save_chain(chain: ChainWeights, path: str | os.PathLike[str], **extra: object) -> None:
    """Write a chain, completely or not at all; `extra` holds arrays, or facts for the header."""
    present = chain.weights.any(axis=1)
    arrays = {name: value for name, value in extra.items() if isinstance(value, np.ndarray)}
    header = {
        "format": RECOGNISER_FORMAT,
        "labels": chain.labels,
        "scale": chain.scale,
        "rows": len(chain.weights),
        **{name: value for name, value in extra.items() if name not in arrays},
    }
    arrays |= {
        "present": np.packbits(present),
        "weights": np.ascontiguousarray(chain.weights[present].T),
        "transitions": chain.transitions,
    }
    if chain.lexicon is not None:
        arrays |= {"lexicon_keys": chain.lexicon.keys, "lexicon_kinds": chain.lexicon.kinds}
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8)
    with atomic_files.atomic_replacement(path, CorpusError, "the model") as file:
        np.savez_compressed(file, header=text, **arrays)  # type: ignore[arg-type]


def load_chain(path: str | os.PathLike[str]) -> ChainWeights:
    """Load the chain from a file of `save_chain`."""
    return read_recogniser(path)[0]


def read_recogniser(
    path: str | os.PathLike[str],
) -> tuple[ChainWeights, dict[str, Any], dict[str, np.ndarray]]:
    """Read the chain, the header and all arrays."""
    target = atomic_files.target_path(path, CorpusError, "a model")
    try:
        arrays = read_arrays(target, lambda size: memory_limits.check_memory(size, None, "a model"))
        header = json.loads(arrays.pop("header").tobytes())
        return _chain(header, arrays), header, arrays
    except MemoryLimitError:
        raise
    except FileNotFoundError as error:
        raise CorpusError(f"expected a model at {target}, but there is no such file") from error
    except Exception as error:  # numpy and zip raise errors of many kinds
        raise CorpusError(
            f"expected a model written by `herded ner train` at {target}, got something else"
        ) from error


def _chain(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> ChainWeights:
    if header["format"] != RECOGNISER_FORMAT:
        raise ValueError(f"format {header['format']}")
    labels, rows, scale = tuple(header["labels"]), header["rows"], header["scale"]
    kinds = [split_label(label)[1] for label in labels]
    if isinstance(header["labels"], str) or labels[0] != OUTSIDE or not all(kinds[1:]):
        raise ValueError(f"labels {labels}")
    if len(set(labels)) != len(labels):
        raise ValueError(f"labels {labels}, some of them twice")
    if not is_whole_number(rows, 2) or rows.bit_count() != 1 or rows > 2**MAX_BITS:
        raise ValueError(f"{rows} rows")
    if not is_number_between(scale, MIN_SCALE, MAX_NUMBER):
        raise ValueError(f"scale {scale}")
    weights = _weights(arrays["present"], arrays["weights"], rows, len(labels))
    transitions = arrays["transitions"]
    if transitions.shape != (len(labels) + 1, len(labels)) or transitions.dtype != np.float64:
        raise ValueError(f"transitions {transitions.shape} {transitions.dtype}")
    # Every label may follow some label, and none is certain to.
    if not ((transitions < MAX_NUMBER).all() and (transitions > -MAX_NUMBER).any(axis=1).all()):
        raise ValueError("transitions that are not log-potentials")
    lexicon = None
    if "lexicon_keys" in arrays:
        lexicon = _lexicon(arrays["lexicon_keys"], arrays["lexicon_kinds"])
    return ChainWeights(labels, weights, transitions, float(scale), lexicon)


def _weights(present: np.ndarray, packed: np.ndarray, rows: int, width: int) -> np.ndarray:
    """Unpack weights (rows, width), allocating memory only if the file holds all of them."""
    if present.dtype != np.uint8 or present.shape != (-(-rows // 8),):
        raise ValueError(f"{present.shape} bits for {rows} rows")
    kept = np.unpackbits(present, count=rows).astype(bool)
    if packed.dtype not in (np.int8, np.float32) or packed.shape != (width, kept.sum()):
        raise ValueError(f"weights {packed.shape} {packed.dtype}")
    if not np.isfinite(packed).all():
        raise ValueError("weights that are not numbers")
    weights = np.zeros((rows, width), packed.dtype)
    weights[kept] = packed.T
    return weights


def _lexicon(keys: np.ndarray, kinds: np.ndarray) -> Lexicon:
    if keys.ndim != 1 or keys.shape != kinds.shape:
        raise ValueError(f"lexicon {keys.shape} {kinds.shape}")
    if keys.dtype != np.uint32 or kinds.dtype != np.uint8 or not keys.all():
        raise ValueError(f"lexicon {keys.dtype} {kinds.dtype}")
    return Lexicon(keys, kinds)
