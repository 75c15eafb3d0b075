"""Time limits of runs: when the time is over, and how long the next block of sweeps may be.

The bits of a run do not depend on the length of its blocks; how many sweeps it does in its time
depends on the machine and its load.
"""

LONGEST = 0.1  # seconds of a block
SHARE = 0.5  # of the time so far: early blocks are short, so that callbacks come early
ENDLESS = 2**60  # sweeps of a run with a time limit only


class Pace:
    """How many sweeps the next block has, at most `most`."""

    def __init__(self, most: int, seconds: float | None) -> None:
        self.most, self.seconds = most, seconds
        self.rows = most if seconds is None else 1

    def is_over(self, seconds: float) -> bool:
        """Whether a run that has taken so long has had its time."""
        return self.seconds is not None and seconds >= self.seconds

    def learn(self, sweeps: int, took: float, so_far: float) -> None:
        """Set the length of the next block: `sweeps` took `took` seconds, the run `so_far`."""
        if self.seconds is not None:
            time = min(LONGEST, SHARE * so_far, self.seconds - so_far)
            self.rows = max(1, min(self.most, int(sweeps * time / max(took, 1e-9))))
