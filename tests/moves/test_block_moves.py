"""Blocks: the twin's bits, exact joints by every draw, potentials of any spread, and refusals."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.blocks.elimination_kernels import allocate_workspace, eliminate, fill_potentials
from herded.models.constraints.start_states import member_starts
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.samplers.block_moves import naive_blocks
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import sweep_layout
from tests.support.page_transcripts import transcripts
from tests.support.strategies import sampled_models

compiled = pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")
DRAWS = {"random": (hd.Gibbs, 1), "herded": (hd.HerdedGibbs, 1), "fresh": (hd.Gibbs, 5),
         "kept": (hd.HerdedGibbs, 5)}  # fmt: skip


def method_of(draw, **options):
    made, members = DRAWS[draw]
    return made(herd=members, **options)


def run(method, layout, x0, sweeps, betas=None, chain=0):
    """Samples (sweeps, members, N), the sums of conditionals (N, K), and the counts of herds."""
    x = x0 if layout.is_herd else x0[0]
    state = method.init(layout, x, chain=chain, tally=True, total=sweeps)
    if layout.counts_states:
        state.state_counts = layout.new_counts()
    samples = []
    for s in range(sweeps):
        block = np.zeros((1, layout.sample_size), layout.sample_type)
        step = method.draw.step(state.sweep, chain)
        sweep_layout(layout, state, block, step, None if betas is None else betas[s : s + 1])
        samples.append(layout.members_of(block)[0])
    return (
        np.array(samples),
        state.conditional_sums.reshape(layout.n_stored, -1),
        state.state_counts,
    )


@pytest.mark.parametrize("draw", DRAWS)
@examples(40)
@given(data=st.data())
def test_the_twin(draw, data):
    model = data.draw(sampled_models(1, 4, zeros=(0.0, 0.3), scales=(0.0, 1.0, 3.0, 300.0)))
    moves = hd.Blocks(data.draw(st.sampled_from((2, 8, 256))), data.draw(st.integers(1, 4)))
    method = method_of(draw, seed=data.draw(st.integers(0, 3)), moves=moves)
    chain, sweeps = data.draw(st.integers(0, 1)), 4
    betas = data.draw(
        st.sampled_from((None, np.array([0.0, 0.5, 2.0, np.inf]), np.array([1.0, 1.0, 7.0, 0.1])))
    )
    x0 = member_starts(model, method.herd, stream_key(chain, 3))
    layout = method.compile(model)
    found, tally, ones = run(method, layout, x0, sweeps, betas, chain)
    blocks = [block.tolist() for block in layout.variable_blocks]
    expected = naive_blocks(
        model, blocks, draw=draw, seed=method.seed, chain=chain, x0=x0, sweeps=sweeps, betas=betas
    )
    np.testing.assert_array_equal(found, expected[0])
    np.testing.assert_array_equal(tally, expected[1])
    if layout.counts_states:
        free, width = model.evidence < 0, int(model.cardinalities.max())
        states = np.moveaxis(found.reshape(-1, model.n_variables), 0, 1)[free]
        real = np.array([np.bincount(own, minlength=width) for own in states]).reshape(-1, width)
        counts = ones.reshape(model.n_variables, -1)[free]
        np.testing.assert_array_equal(counts, real[:, 1:] if width == 2 else real)


# -- the law ---------------------------------------------------------------------------------------


def tied():
    """Factors of three, three states, evidence; two variables that are always equal, one that two
    others decide."""
    rng = np.random.default_rng(3)
    equal = np.where(np.eye(3), rng.normal(size=(3, 3)), -np.inf)
    either = np.full((2, 2, 2), -np.inf)
    for a, b in itertools.product(range(2), repeat=2):
        either[a, b, a | b] = 0.0
    factors = [
        ((0, 1), equal),
        ((2, 3, 4), either),
        ((1, 2, 5), rng.normal(size=(3, 2, 2))),
        ((3,), rng.normal(size=2)),
        ((4, 5, 6), rng.normal(size=(2, 2, 3))),
        ((0, 6), rng.normal(size=(3, 3))),
    ]
    return hd.FactorGraph([3, 3, 2, 2, 2, 2, 3], factors, names="abcdefg").given({"f": 1})


def block_kernel(model, layout, b, beta=1.0):
    """(states, states) probabilities of one move of block b, from the compiled tables."""
    a, work, cards = (
        layout.arrays,
        allocate_workspace(layout.arrays, 1, layout.longest),
        tuple(model.cardinalities),
    )
    fill_potentials(a.log_tables, a.table_start, beta, work.values, work.lowest)
    first, last = a.block_start[b], a.block_start[b + 1]
    kernel = np.zeros((np.prod(cards), np.prod(cards)))
    for x in np.argwhere(naive_joint(model) > 0):
        eliminate(a, b, beta, x.astype(np.uint8), 1, 0, work, 0, 0)
        assert not work.in_logs[: last - first].any()
        for new in itertools.product(*(range(k) for k in a.states[first:last])):
            y, p = x.copy(), 1.0
            y[a.variable[first:last]] = new
            for s in range(first, last):
                span = slice(a.scope_start[s], a.scope_start[s + 1])
                row = int(y[a.scope[span]] @ a.scope_stride[span])
                at = a.table_at[s] + row * a.states[s]
                entries = work.table[at : at + a.states[s]]
                p *= entries[y[a.variable[s]]] / entries.sum() if entries.sum() > 0 else 0.0
            kernel[np.ravel_multi_index(x, cards), np.ravel_multi_index(y, cards)] += p
    return kernel


@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_a_move_of_a_block_leaves_pi_as_it_is(beta):
    """Its kernel is pi(x_B | rest), row by row: what is drawn does not depend on x_B."""
    model = tied()
    pi = naive_joint(model) ** beta
    pi /= pi.sum()
    layout = hd.Gibbs(moves=hd.Blocks(entries=9, count=3)).compile(model)
    assert len(layout.variable_blocks) > 1
    for b, block in enumerate(layout.variable_blocks):
        kernel = block_kernel(model, layout, b, beta)
        np.testing.assert_allclose(pi.ravel() @ kernel, pi.ravel(), atol=1e-14)
        outside = pi / pi.sum(axis=tuple(block), keepdims=True, where=pi >= 0).clip(1e-300)
        for x in np.argwhere(pi > 0):
            rows = kernel[np.ravel_multi_index(x, pi.shape)].reshape(pi.shape)
            agrees = tuple(slice(None) if i in block else x[i] for i in range(pi.ndim))
            np.testing.assert_allclose(rows[agrees], outside[agrees], atol=1e-12)


@compiled
@pytest.mark.parametrize("temperature", [None, 2.0])
@pytest.mark.parametrize("draw", DRAWS)
def test_joints(draw, temperature):
    """Zeros, three states, factors of three, evidence: the joint, where single moves are stuck."""
    model = tied()
    pi = naive_joint(model) ** (1 / (temperature or 1.0))
    pi /= pi.sum()
    schedule = None if temperature is None else constant(temperature)
    method = method_of(draw, seed=2, schedule=schedule, moves=hd.Blocks(entries=9, count=3))
    sweeps = 40_000 // method.herd
    result = hd.infer(
        model, method, sweeps=sweeps, burn_in=50, keep=[hd.Joint(), hd.Marginals(True)]
    )
    assert (result.joint[pi == 0] == 0).all()
    drawn = 0.5 * np.sqrt(2 / np.pi * pi * (1 - pi) / 40_000).sum()
    assert 0.5 * np.abs(result.joint - pi).sum() < 2.5 * drawn
    marginals = naive_marginals(pi)
    for i, exact in enumerate(marginals):
        np.testing.assert_allclose(result.marginals[i, : len(exact)], exact, atol=0.01)


def constant(temperature):
    return lambda sweep, total: temperature


def naive_marginals(pi):
    return [pi.sum(axis=tuple(set(range(pi.ndim)) - {i})) for i in range(pi.ndim)]


@compiled
def test_potentials_of_any_spread():
    """Where products of potentials would underflow, states are possible all the same."""
    leaves = 40
    far = np.array([[0.0, -500.0], [-500.0, 0.0]])
    factors = [((0, 1 + k), far) for k in range(leaves)]
    factors += [((1 + k,), [0.0, -np.inf if k else -3.0]) for k in range(leaves)]
    model = hd.FactorGraph([2] * (leaves + 1), factors)  # leaf 1 alone may be 1, at e^-503 or so
    odd = [((0,), [-np.inf, 0.0])]  # and the hub is 1, against all of them
    against = hd.FactorGraph([2] * (leaves + 1), factors + odd)
    for draw, graph in itertools.product(DRAWS, (model, against)):
        exact = hd.infer(graph, hd.Exact()).marginals
        method = method_of(draw, moves=hd.Blocks())
        found = hd.infer(graph, method, sweeps=2000, keep=[hd.Marginals(rao_blackwell=True)])
        np.testing.assert_allclose(found.marginals, exact, atol=1e-6)


# -- where single moves are stuck ------------------------------------------------------------------


def test_walls_are_passed_and_told():
    """What single moves cannot reach blocks do; where given blocks do not either, it is said."""
    model = tied()
    exact = hd.infer(model, hd.Exact()).marginals
    with pytest.warns(hd.HerdedWarning, match="moves of one variable at a time never"):
        hd.infer(model, hd.Gibbs(), sweeps=100)
    run = hd.infer(model, hd.Gibbs(herd=64, moves=hd.Blocks()), sweeps=300, chains=2)
    assert not run.warnings
    np.testing.assert_allclose(run.marginals, exact, atol=0.02)
    singles = hd.Blocks(blocks=[[name] for name in "abcdeg"])
    with pytest.warns(hd.HerdedWarning, match="moves of these blocks never set variable 'a'"):
        hd.infer(model, hd.Gibbs(moves=singles), sweeps=100)


def test_classes_that_only_some_blocks_join():
    """x + y + z even: single moves leave no state, pairs reach all, and each is told."""
    even = np.full((2, 2, 2), -np.inf)
    for x in itertools.product(range(2), repeat=3):
        even[x] = 0.0 if sum(x) % 2 == 0 else -np.inf
    model = hd.FactorGraph([2, 2, 2], [((0, 1, 2), even), ((0,), [0.0, 1.0])])
    pairs = hd.Gibbs(moves=hd.Blocks(blocks=[[0, 1], [1, 2]]))
    assert "cannot reach" not in "".join(hd.infer(model, pairs, sweeps=50).warnings)
    with pytest.warns(hd.HerdedWarning, match="cannot reach"):
        hd.infer(model, hd.Gibbs(moves=hd.Blocks(blocks=[[0, 1], [2]])), sweeps=50)


@compiled
def test_copies_move_as_one():
    """A glass whose spins are rows of copies: a block has whole rows, or nothing of them."""
    rng, side, copies = np.random.default_rng(1), 5, 6
    site = np.arange(side * side * copies).reshape(side, side, copies)
    equal, factors = np.log(np.eye(2) + 1e-300), []
    equal[~np.eye(2, dtype=bool)] = -np.inf
    for r, c in itertools.product(range(side), repeat=2):
        factors += [((i, j), equal) for i, j in itertools.pairwise(site[r, c].tolist())]
        for other in [(r + 1, c)] * (r + 1 < side) + [(r, c + 1)] * (c + 1 < side):
            pair = (int(site[r, c, rng.integers(copies)]), int(site[other][rng.integers(copies)]))
            factors.append((pair, rng.uniform(-1, 1) * np.array([[1.0, -1.0], [-1.0, 1.0]])))
    model = hd.FactorGraph([2] * site.size, factors)
    method = hd.Gibbs(herd=16, moves=hd.Blocks(entries=8, count=8))
    blocks = method.compile(model).variable_blocks
    assert len(blocks) > 1
    for block in blocks:
        held = np.isin(site, block).sum(axis=2)
        assert set(np.unique(held)) <= {0, copies}
    run = hd.infer(model, method, sweeps=600, burn_in=50, chains=2)
    assert not run.warnings
    np.testing.assert_allclose(run.marginals, hd.infer(model, hd.Exact()).marginals, atol=0.03)


# -- blocks of one's own, and refusals -------------------------------------------------------------


def test_given_blocks_are_taken():
    model = tied()
    method = hd.Gibbs(moves=hd.Blocks(blocks=[["a", "b", "f"], (2, 3, 4), np.array([6, 5])]))
    found = [sorted(block.tolist()) for block in method.compile(model).variable_blocks]
    assert found == [[0, 1], [2, 3, 4], [6]]
    assert method == hd.Gibbs(moves=hd.Blocks(blocks=[["a", "b", "f"], [2, 3, 4], [6, 5]]))
    assert hash(method) == hash(method)


WRONG = {
    "entries of Blocks as a whole number of 2 or more, got 1": {"entries": 1},
    "count of Blocks as a whole number of 1 or more, got 0": {"count": 0},
    r"blocks= as lists of variables, such as .*, got 'ab'": {"blocks": ["ab"]},
    r"blocks= as lists of variables, .*, got none": {"blocks": []},
    "every variable once in block 1": {"blocks": [[0, 1], [2, 2]]},
    "every variable that is not known in a block, but 'c' is in none, nor are 3 others": {
        "blocks": [["a", "b"]]
    },
    r"at most 4 entries, but block 0 takes one of 18: split it, or pass Blocks\(entries=18": {
        "entries": 4,
        "blocks": [[0, 1, 2, 3, 4, 6]],
    },
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_blocks(sentence):
    with pytest.raises(hd.MethodError, match=sentence):
        hd.Gibbs(moves=hd.Blocks(**WRONG[sentence])).compile(tied())


def test_unknown_variables_in_blocks():
    with pytest.raises(hd.ModelError, match="expected the name of a variable, got 'z'"):
        hd.Gibbs(moves=hd.Blocks(blocks=[["z"]])).compile(tied())


def test_what_does_not_go_with_blocks():
    moves = hd.Blocks()
    with pytest.raises(
        hd.MethodError, match="no scan with moves, which have an order of their own"
    ):
        hd.Gibbs(scan="random", moves=moves)
    with pytest.raises(hd.MethodError, match=r"expected moves=None or hd\.Blocks"):
        hd.Gibbs(moves=hd.Blocks)
    with pytest.raises(hd.MethodError, match="no weights or slack with moves"):
        hd.HerdedGibbs("pooled", moves=moves)
    with pytest.raises(hd.MethodError, match="no layout= with moves"):
        hd.infer(tied(), hd.Gibbs(moves=moves), layout="table", sweeps=5)
    with pytest.raises(hd.MemoryLimitError, match="tables of blocks"):
        hd.infer(tied(), hd.Gibbs(moves=moves), max_memory=100, sweeps=5)


def test_the_page():
    for said, printed in transcripts("blocks-and-tempering"):
        assert printed == said
