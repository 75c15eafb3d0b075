"""The parameters of a restricted Boltzmann machine as arrays, and the steps that train it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from herded.draws.systematic import member_orders
from herded.learn.boltzmann.rbm_kernels import (
    enumerated_log_z,
    hidden_means,
    layer_log_z,
    layer_statistics,
    layer_sweeps,
    log_scores_of_members,
)
from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import start_offsets
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.exp_log import log_array
from herded.system.numerics.stream_purposes import StreamPurpose

INITIAL_WEIGHT_RANGE = 0.01  # the largest distance of initial weights from 0
MAX_ENUMERATED_STATES = 2**20  # joint states of a layer
HIDDEN_MEAN_DECAY = 0.01  # decay rate of the running means of hidden units
ROWS_PER_PART = 1024  # rows processed at once, which bounds the memory


@dataclass(frozen=True, eq=False)
class RBMParameters:
    """Weights and biases; state 0 of each visible unit has weight 0."""

    first: np.ndarray  # (visible + 1,) the row of each unit's state 1
    weights: np.ndarray  # (rows, hidden)
    visible_bias: np.ndarray  # (rows,)
    hidden_bias: np.ndarray  # (hidden,)

    @classmethod
    def fresh(cls, states: np.ndarray, hidden: int, x: np.ndarray, seed: int) -> "RBMParameters":
        """Draw small random weights, with visible biases that fit the states x (visible, rows)."""
        first = start_offsets(states - 1)
        rows = int(first[-1])
        key = stream_key(seed, 0, StreamPurpose.RBM_WEIGHTS)
        bits = random_bits_array(key, rows * hidden).reshape(rows, hidden)
        uniform = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
        counts = [np.bincount(row, minlength=k) + 1.0 for row, k in zip(x, states, strict=True)]
        logs = [log_array(count) for count in counts]
        bias = np.concatenate([one[1:] - one[0] for one in logs])
        return cls(first, INITIAL_WEIGHT_RANGE * uniform, bias, np.zeros(hidden))

    @property
    def hidden_first(self) -> np.ndarray:
        return np.arange(len(self.hidden_bias) + 1)

    def hidden_means(self, x: np.ndarray) -> np.ndarray:
        """Compute the probabilities (members, hidden) of 1, given states x (visible, members)."""
        found = np.empty((x.shape[1], len(self.hidden_bias)))
        for part in member_chunks(x):
            members = part.stop - part.start
            p = np.empty((len(self.hidden_bias), 2, members))
            room = np.empty((members, len(self.hidden_bias)))
            own = np.ascontiguousarray(x[:, part])
            hidden_means(own, self.first, self.weights, self.hidden_bias, room, p)
            found[part] = p[:, 1].T
        return found

    def log_scores(self, x: np.ndarray) -> np.ndarray:
        """Compute unnormalised log-probabilities (members,), summing over hidden states."""
        scores = np.empty(x.shape[1])
        for part in member_chunks(x):
            own = np.ascontiguousarray(x[:, part])
            log_scores_of_members(
                own, self.first, self.weights, self.visible_bias, self.hidden_bias, scores[part]
            )
        return scores

    def statistics(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Average over members: visible states, hidden units given them, and their products."""
        found = np.empty(len(self.visible_bias)), np.empty(len(self.hidden_bias))
        both = np.empty(self.weights.shape)
        layer_statistics(x, self.first, self.weights, self.hidden_bias, *found, both)
        return *found, both

    def sweep(self, x: np.ndarray, done: int, sweeps: int, seed: int) -> None:
        """Draw the states x (visible, members) and the hidden ones in turn."""
        h = np.empty((len(self.hidden_bias), x.shape[1]), np.uint16)
        layer_sweeps(
            x, h, self.first, self.weights, np.ascontiguousarray(self.weights.T),
            self.visible_bias, self.hidden_bias, stream_key(seed, 0, StreamPurpose.RBM_HERD),
            stream_key(seed, 1, StreamPurpose.RBM_HERD), done, sweeps, member_orders(x.shape[1]),
        )  # fmt: skip

    @property
    def joint_states(self) -> tuple[float, float]:
        """Count the joint states of the visible and the hidden layer."""
        return float(np.prod(np.diff(self.first) + 1.0)), 2.0 ** len(self.hidden_bias)

    def enumerated_log_z(self) -> float | None:
        """Compute log Z from all states of the smaller layer, if it is small enough."""
        visible, hidden = self.joint_states
        if min(visible, hidden) > MAX_ENUMERATED_STATES:
            return None
        if hidden <= visible:
            ties = np.ascontiguousarray(self.weights.T)
            sides = self.hidden_first, ties, self.hidden_bias, self.first, self.visible_bias
        else:
            sides = (
                self.first, self.weights, self.visible_bias, self.hidden_first, self.hidden_bias,
            )  # fmt: skip
        return float(enumerated_log_z(*sides))

    def heated(self, beta: float) -> "RBMParameters":
        """Return the same visible biases, with `beta` times everything else."""
        return replace(self, weights=beta * self.weights, hidden_bias=beta * self.hidden_bias)

    def independent_log_z(self) -> float:
        """Compute log Z for weights of 0."""
        visible = layer_log_z(self.visible_bias, self.first)
        return float(visible + layer_log_z(self.hidden_bias, self.hidden_first))

    def as_graph(self) -> FactorGraph:
        """Write the same model as factors: visible units first, then hidden ones."""
        states = np.diff(self.first) + 1
        visible, hidden = len(states), len(self.hidden_bias)
        factors: list[tuple[tuple[int, ...], np.ndarray]] = []
        for i in range(visible):
            rows = slice(self.first[i], self.first[i + 1])
            factors.append(((i,), np.append(0.0, self.visible_bias[rows])))
            for j in range(hidden):
                table = np.zeros((states[i], 2))
                table[1:, 1] = self.weights[rows, j]
                factors.append(((i, visible + j), table))
        factors += [((visible + j,), np.array([0.0, b])) for j, b in enumerate(self.hidden_bias)]
        return FactorGraph(np.append(states, np.full(hidden, 2)), factors)


def member_chunks(x: np.ndarray) -> Iterable[slice]:
    """Yield members in parts of moderate size."""
    members = x.shape[1]
    return [slice(a, min(a + ROWS_PER_PART, members)) for a in range(0, members, ROWS_PER_PART)]


@dataclass
class RBMTraining:
    """Persistent contrastive divergence with a herd, along the centred gradient.

    (Melchior, Fischer and Wiskott, "How to center deep Boltzmann machines", 2016: weights apply to
    deviations from means, which makes their gradient independent of those of biases.)
    """

    layers: RBMParameters
    herd: np.ndarray  # (visible, members)
    visible_mean: np.ndarray  # (rows,) of the data
    hidden_mean: np.ndarray  # (hidden,) running
    done: int = 0

    def step(self, x: np.ndarray, rate: float, l2: float, sweeps: int, seed: int) -> None:
        """Take one step on the rows x (visible, rows)."""
        layers = self.layers
        visible, hidden, both = layers.statistics(x)
        layers.sweep(self.herd, self.done * sweeps, sweeps, seed)
        of_herd = layers.statistics(self.herd)
        visible, seen = visible - of_herd[0], hidden
        hidden, both = hidden - of_herd[1], both - of_herd[2]
        self.hidden_mean = (1.0 - HIDDEN_MEAN_DECAY) * self.hidden_mean + HIDDEN_MEAN_DECAY * seen
        both -= self.visible_mean[:, None] * hidden + visible[:, None] * self.hidden_mean
        both -= l2 * layers.weights
        visible = visible - (both * self.hidden_mean).sum(axis=1)
        hidden = hidden - (both * self.visible_mean[:, None]).sum(axis=0)
        self.layers = RBMParameters(
            layers.first,
            layers.weights + rate * both,
            layers.visible_bias + rate * visible,
            layers.hidden_bias + rate * hidden,
        )
        self.done += 1
