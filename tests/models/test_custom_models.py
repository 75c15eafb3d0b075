"""Models of one's own, not made of factors, with samplers of one's own that need none."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest

import herded as hd
from herded.run.diagnostics.chain_agreement import ONE_CHAIN

RATES = np.array([[0.5, 0.3, 0.2], [0.1, 0.0, 0.9], [1.0, 0.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Dice:
    """Independent dice: a model that has all that a model must have, and nothing more."""

    rates: np.ndarray
    evidence: np.ndarray
    zeros_tie_variables: bool = False

    names = state_names = None

    @property
    def n_variables(self):
        return len(self.rates)

    @property
    def shape(self):
        return (self.n_variables,)

    @property
    def cardinalities(self):
        return np.full(self.n_variables, self.rates.shape[1])

    @property
    def has_hard_zeros(self):
        return not self.rates.all()

    @property
    def content_hash(self):
        return self.rates.tobytes().hex()[:16]

    def neighbours(self, i):
        return np.zeros(0, np.int64)

    def log_score(self, states):
        with np.errstate(divide="ignore"):
            logs = np.log(self.rates)
        return logs[np.arange(self.n_variables), np.asarray(states)].sum(axis=-1)

    def given(self, evidence):
        known = self.evidence.copy()
        known[list(evidence)] = list(evidence.values())
        return replace(self, evidence=known)


ALIKE = RATES[:1].repeat(3, axis=0)


def dice(rates=ALIKE, **options):
    return Dice(np.array(rates), np.full(len(rates), -1), **options)


@dataclass(frozen=True)
class Herd:
    """Herds each die by itself, with plain NumPy."""

    seed: int = 0

    def compile(self, model, *, kind=None, max_memory=None):
        return hd.Layout(model=model, method=self, arrays=model.rates)

    def init(self, layout, x, *, chain, tally, total):
        keys = layout.arrays * (self.seed + chain)  # a name that hash tables have, too
        return hd.State(layout.store(x), method_arrays={"keys": keys}, chain=chain, total=total)

    def advance(self, layout, state, block, pool=None):
        weights, everyone = state.method_arrays["keys"], np.arange(len(state.x))
        known = layout.model.evidence
        for row in block:
            weights += layout.arrays
            state.x[:] = np.where(known < 0, weights.argmax(axis=1), known)
            weights[everyone, state.x] -= 1
            row[:] = state.x
        state.sweep += len(block)


def test_a_sampler_that_needs_no_factors():
    model = dice()
    assert isinstance(model, hd.Model) and isinstance(Herd(), hd.Sampler)
    keep = [hd.Marginals(), hd.Samples(), hd.Joint(), hd.PairMarginals([(0, 2)])]
    result = hd.infer(model, Herd(), sweeps=300, burn_in=3, chains=2, keep=keep)
    np.testing.assert_allclose(result.marginals, model.rates, atol=0.01)
    assert result.samples.shape == (2, 300, 3) and result.provenance["layout"] == "own"
    np.testing.assert_allclose(result.joint.sum(axis=(1, 2)), result.marginals[0])
    np.testing.assert_allclose(result.pair_marginals.tables[0].sum(axis=1), result.marginals[0])
    known = hd.infer(model.given({1: 2}), Herd(), sweeps=300)
    assert known.marginals[1].tolist() == [0, 0, 1]


def test_it_is_saved_continued_timed_and_sent(tmp_path):
    model, keep = dice(), [hd.Samples()]
    whole = hd.infer(model, Herd(), sweeps=60, chains=2, keep=keep).samples
    path = tmp_path / "run.ckpt"
    for sweeps in (25, 60):
        found = hd.infer(model, Herd(), sweeps=sweeps, chains=2, keep=keep, checkpoint=path)
    np.testing.assert_array_equal(found.samples, whole)
    first = hd.infer(model, Herd(), sweeps=20, chains=2)
    rest = hd.infer(model, Herd(), sweeps=40, chains=2, keep=keep, start=first.state)
    np.testing.assert_array_equal(rest.samples, whole[:, 20:])
    with ThreadPoolExecutor(2) as pool:
        sent = hd.infer(model, Herd(), sweeps=60, chains=2, keep=keep, executor=pool)
    np.testing.assert_array_equal(sent.samples, whole)
    assert hd.infer(model, Herd(), seconds=0.01).sweeps > 0
    many = hd.infer_many([model, model], Herd(), sweeps=60, chains=2, keep=keep)
    np.testing.assert_array_equal(many[1].samples, whole)


@pytest.mark.parametrize(
    "method",
    [None, hd.Gibbs(), hd.Exact(), hd.MeanField(), hd.BeliefPropagation(), hd.Viterbi()],
    ids=repr,
)
def test_methods_that_need_factors_say_so(method):
    with pytest.raises(hd.MethodError) as caught:
        hd.infer(dice(), method)
    assert str(caught.value) == (
        "expected a factor graph, or a model that can be written as one, got Dice of shape (3,): "
        "use a sampler that works on such models"
    )


def test_the_best_state_is_kept_by_its_log_score():
    result = hd.infer(
        dice(), Herd(), sweeps=50, chains=2, keep=[hd.BestState(), hd.PairMarginals()]
    )
    assert result.best.state.tolist() == [0, 0, 0]
    assert result.best.log_score == pytest.approx(3 * np.log(0.5))
    assert len(result.pair_marginals.edges) == 0  # dice have no neighbours


@pytest.mark.parametrize("tied", [False, True])
def test_hard_zeros(tied):
    """Nobody can search for a start, nor for walls: a start is to be given, and is believed."""
    model = dice(RATES, zeros_tie_variables=tied)
    for chains in (1, 3):
        with pytest.raises(hd.InfeasibleError, match=r"expected start= .* but no factors"):
            hd.infer(model, Herd(), sweeps=5, chains=chains)
    result = hd.infer(model, Herd(), sweeps=300, start=[0, 2, 0])
    np.testing.assert_allclose(result.marginals, RATES, atol=0.01)
    assert result.diagnostics == (ONE_CHAIN,)
    with pytest.raises(hd.ModelError, match="expected a start of positive probability, got one"):
        hd.infer(model, Herd(), sweeps=5, start=[0, 1, 0])


def test_one_model_is_no_list_of_them():
    class Counted(Dice):
        def __iter__(self):
            return iter(self.rates)

    model = dice()
    with pytest.raises(hd.ModelError, match="put it into a list"):
        hd.infer_many(Counted(model.rates, model.evidence), Herd())


def test_a_model_without_room_for_its_layouts():
    class Slotted:
        __slots__ = ("inner",)
        content_hash = "of dice"

        def __getattr__(self, name):
            return getattr(self.inner, name)

    model = Slotted()
    model.inner = dice()
    with pytest.raises(AttributeError):
        model._layouts = {}
    found = [hd.infer(model, Herd(), sweeps=50, keep=[hd.Samples()]).samples for _ in range(2)]
    np.testing.assert_array_equal(found[0], found[1])
