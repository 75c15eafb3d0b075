"""Independent draws from a Bayes net: each variable given the states of its parents."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from herded.errors import missing_extra_error
from herded.nets.conditional_table import ConditionalTable
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
        cumulated = table.probabilities.cumsum(axis=-1)
        cumulated[..., -1] = np.inf  # rows sum to 1, up to rounding
        thresholds = cumulated[tuple(rows[:, index[parent]] for parent in table.parents)]
        bits = random_bits_array(stream_key(seed, i, StreamPurpose.ANCESTRAL_SAMPLES), n)
        uniform = (bits >> np.uint64(11)) * 2.0**-53
        rows[:, i] = (uniform[:, None] >= thresholds).sum(axis=-1)
    return rows


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
