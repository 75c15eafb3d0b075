"""Independent draws from a Bayes net: each variable given the states of its parents."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from herded.errors import missing_extra_error
from herded.nets.conditional_table import ConditionalTable
from herded.system.memory_limits import Size, check_memory
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose


def draw_rows(
    tables: Sequence[ConditionalTable], index: Mapping[str, int], n: int, seed: int
) -> np.ndarray:
    """Draw states (n, N); `tables` have parents before their children.

    Every variable has a stream of its own, and every row a counter in it, so that the first rows of
    a longer sample are those of a shorter one.
    """
    rows = np.zeros((n, len(tables)), np.int64)
    for table in tables:
        i = index[table.child]
        thresholds = _thresholds(table.probabilities)[
            tuple(rows[:, index[parent]] for parent in table.parents)
        ]
        bits = random_bits_array(stream_key(seed, i, StreamPurpose.ANCESTRAL_SAMPLES), n)
        uniform = (bits >> np.uint64(11)) * 2.0**-53
        rows[:, i] = (uniform[:, None] >= thresholds).sum(axis=-1)
    return rows


def check_sample_memory(
    tables: Sequence[ConditionalTable], n: int, max_memory: Size | None
) -> None:
    """Raise a `MemoryLimitError` if `n` rows need more memory than the limit."""
    most_states = max(len(table.states) for table in tables)
    cells = n * (len(tables) + most_states + 2)  # rows, thresholds, bits and uniform numbers
    check_memory(8.0 * cells, max_memory, "a sample", "draw fewer rows")


def _thresholds(probabilities: np.ndarray) -> np.ndarray:
    """Return cumulated probabilities, infinite from the last possible state on.

    Rows sum to 1 up to rounding, that of files included; no impossible state may get the rest.
    """
    cumulated = probabilities.cumsum(axis=-1)
    cumulated /= cumulated[..., -1:]
    n_states = probabilities.shape[-1]
    last_possible = n_states - 1 - np.argmax(probabilities[..., ::-1] > 0, axis=-1)
    is_last = np.arange(n_states) >= last_possible[..., None]
    thresholds: np.ndarray = np.where(is_last, np.inf, cumulated)
    return thresholds


def as_frame(rows: np.ndarray, names: Any, state_names: Any) -> Any:
    """Return a pandas data frame with a categorical column for each variable."""
    try:
        import pandas
    except ImportError as error:
        raise missing_extra_error("pandas", "a labelled sample", "xarray") from error
    columns = {
        name: pandas.Categorical.from_codes(rows[:, i], categories=list(states))
        for i, (name, states) in enumerate(zip(names, state_names, strict=True))
    }
    return pandas.DataFrame(columns)
