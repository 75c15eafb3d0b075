"""How many examples Hypothesis draws: a fifth of what a test is worth, or all of it.

Each session draws others, so that a week of sessions draws more than one that is patient. With
HERDED_TESTS=all, as in `.ci/run`, a test draws all at once.
"""

import os

from hypothesis import HealthCheck, settings

ALL = os.environ.get("HERDED_TESTS") == "all"
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
DEFAULT = 100  # Hypothesis's own


def examples(most: int = DEFAULT, *allowed: HealthCheck) -> settings:
    """Settings for a test that is worth `most` examples; few where nothing is compiled.

    How long an example takes, and how large it is, is a matter of the machine and of the model.
    """
    count = most if ALL else -(-most // 5)
    return settings(
        max_examples=max(2, most // 20) if UNCOMPILED else count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, *allowed],
    )
