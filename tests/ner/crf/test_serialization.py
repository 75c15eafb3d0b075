"""Model files: exact round trips, and one clear sentence for whatever else is in a file."""

import json
import os
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded.ner
from herded.errors import CorpusError
from herded.ner import CRF, Lexicon, Recogniser, load, read_conll
from herded.ner.crf.chain_weights import ChainWeights, first_transitions
from herded.ner.crf.serialization import load_chain, read_recogniser, save_chain
from herded.ner.crf.skip_chain import TieWeights
from tests.support.example_budget import examples

SAMPLE = Path(herded.ner.__file__).parent / "data" / "sample.conll"
LABELS = ("O", "B-ANIMAL", "I-ANIMAL")
ONE_SENTENCE = r"^expected [^\n]*$"
WORDS = [["The", "Arctic", "Fox", "ran"], ["Fox"]]


def make_chain(seed=0, rows=256, lexicon=None):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(rows, 3)).astype(np.float32)
    weights[rng.random(rows) < 0.7] = 0
    return ChainWeights(
        LABELS, weights, first_transitions(LABELS) + rng.normal(size=(4, 3)), 1.0, lexicon
    )


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_chain(a, b):
    assert (a.labels, a.scale) == (b.labels, b.scale)
    assert (a.lexicon is None) == (b.lexicon is None)
    if a.lexicon is not None:
        assert same(a.lexicon.keys, b.lexicon.keys) and same(a.lexicon.kinds, b.lexicon.kinds)
    return same(a.weights, b.weights) and same(a.transitions, b.transitions)


@examples(20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 16, 4096]), st.booleans(), st.booleans())
def test_a_chain_comes_back_bit_by_bit(tmp_path_factory, seed, rows, short, listed):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    chain = make_chain(seed, rows, Lexicon.from_lists([["Fox", "Red Fox"]]) if listed else None)
    chain = chain.quantised() if short else chain
    save_chain(chain, path)
    assert same_chain(load_chain(path), chain)
    before = path.read_bytes()
    save_chain(load_chain(path), path)
    assert path.read_bytes() == before  # the same model, the same bytes
    assert os.listdir(path.parent) == ["model.npz"]


@pytest.mark.parametrize("scheme", ["io", "bio"])
def test_a_crf_comes_back(tmp_path, scheme):
    documents = list(read_conll(SAMPLE))[:6]
    crf = CRF(bits=10, scheme=scheme, lexicon=Lexicon.from_lists([["Kenya"]])).fit(documents)
    crf.save(tmp_path / "crf.npz")
    again = CRF.load(str(tmp_path / "crf.npz"))
    assert same_chain(again.chain_, crf.chain_)
    assert (again.scheme, again.bits, again.history_) == (scheme, 10, [])
    assert again.predict(documents) == crf.predict(documents)
    for ours, theirs in zip(
        again.predict_marginals(documents), crf.predict_marginals(documents), strict=True
    ):
        assert all(same(p, q) for p, q in zip(ours, theirs, strict=True))


def test_a_recogniser_comes_back(tmp_path):
    table = np.array([[0.1, -0.2], [-0.2, 1 / 3]])
    first = Recogniser(
        make_chain().quantised(), TieWeights(table, 0.7, "all"), {"words": 3, "é": "ü"}
    )
    first.save(tmp_path / "r.npz")
    again = load(tmp_path / "r.npz")
    assert same_chain(again.chain, first.chain) and same(again.ties.table, table)
    assert (again.ties.trust, again.ties.rule, again.card) == (0.7, "all", {"words": 3, "é": "ü"})
    assert again.kinds == ("ANIMAL",)
    Recogniser(make_chain()).save(tmp_path / "r.npz")
    assert load(tmp_path / "r.npz").ties is None


@pytest.mark.parametrize("least", [1, 3])
def test_quantised_weights(least):
    chain = make_chain(5)
    short = chain.quantised(least)
    assert short.weights.dtype == np.int8 and np.abs(short.weights).max() == 127
    assert not short.weights[:, 0].any()  # only differences matter
    kept = short.weights.any(axis=1)
    wanted = chain.weights - chain.weights[:, :1]
    assert np.abs(short.scale * short.weights - wanted)[kept].max() <= 0.5001 * short.scale
    assert np.abs(wanted[~kept]).max() < (least - 0.499) * short.scale
    assert np.array_equal(short.quantised(least).weights, short.weights)
    nothing = ChainWeights(LABELS, np.zeros((4, 3), np.float32), chain.transitions).quantised()
    assert not nothing.weights.any() and 0 < nothing.scale < 1


def parts():
    """Header and arrays of a good file."""
    chain = make_chain()
    present = chain.weights.any(axis=1)
    header = {
        "format": 2,
        "labels": LABELS,
        "scale": 1.0,
        "rows": 256,
        "trust": 1.0,
        "rule": "next",
    }
    return header, {
        "present": np.packbits(present),
        "weights": np.ascontiguousarray(chain.weights[present].T),
        "transitions": chain.transitions,
        "ties": np.zeros((2, 2)),
        "lexicon_keys": np.array([1, 3], np.uint32),
        "lexicon_kinds": np.array([1, 2], np.uint8),
    }


def write(path, header, arrays):
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, header=text, **arrays)
    return path


def refuses(path):
    """Every reader has one sentence for it, and takes little memory to say it."""
    for reader in (load, CRF.load, load_chain, read_recogniser):
        tracemalloc.start()
        try:
            with pytest.raises(CorpusError, match=ONE_SENTENCE):
                reader(path)
            assert tracemalloc.get_traced_memory()[1] < 2**24
        finally:
            tracemalloc.stop()


def test_the_file_that_others_spoil_is_good(tmp_path):
    path = write(tmp_path / "good.npz", *parts())
    assert same_chain(load(path).chain, CRF.load(path).chain_) and load(path).ties is not None


NAN = float("nan")
HEADERS = {
    "rows": [2**60, 2**28, 2**27, 512, 128, 255, 1, 0, -4, -256, 256.5, "256", None, [256], True],
    "labels": [
        ["O"], [*LABELS, "B-X"], [], "OAB", [1, 2, 3], None, 3, ["O", "A", "A"], ["A", "O", "C"],
        ["O", "", "A"], ["O", "B-", "A"], [["O"], "A", "C"], {"O": 1}, ["O", "O", "A"],
    ],
    "scale": [NAN, float("inf"), -1.0, 0.0, "1", None, 1e300, [1.0]],
    "format": [1, None, "2"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in HEADERS.items() for value in values]
)
def test_absurd_headers(tmp_path, name, value):
    header, arrays = parts()
    refuses(write(tmp_path / "m.npz", {**header, name: value}, arrays))


@pytest.mark.parametrize("name", ["format", "labels", "scale", "rows"])
def test_what_a_header_lacks(tmp_path, name):
    header, arrays = parts()
    del header[name]
    refuses(write(tmp_path / "m.npz", header, arrays))


@pytest.mark.parametrize("header", [[], "text", 3, None, {}])
def test_other_headers(tmp_path, header):
    refuses(write(tmp_path / "m.npz", header, parts()[1]))


def with_entry(value, at=(1, 1)):
    transitions = parts()[1]["transitions"].copy()
    transitions[at] = value
    return transitions


ARRAYS = {
    "transitions": [
        with_entry(NAN), with_entry(np.inf), with_entry(-np.inf, 3), with_entry(-np.inf, 0),
        np.zeros((3, 3)), np.zeros((4, 3), np.float32), np.zeros((4, 3), complex), np.zeros(12),
        np.array("text"),
    ],
    "weights": [
        np.zeros((3, 5), np.float32), np.zeros((3, 256)), np.zeros(0, np.int8), np.array(3),
        parts()[1]["weights"] * np.float32(NAN), parts()[1]["weights"] * np.float32(np.inf),
        parts()[1]["weights"].astype(np.float64), parts()[1]["weights"].T.copy(),
    ],
    "present": [
        np.zeros(32, np.int64), np.zeros(31, np.uint8), np.zeros(33, np.uint8),
        np.zeros((32, 1), np.uint8), np.zeros(32, np.uint8), np.array("x"),
    ],
    "lexicon_keys": [
        np.array([1], np.uint32), np.array([1, 3]), np.array([0, 3], np.uint32),
        np.array([[1, 3]], np.uint32),
    ],
    "lexicon_kinds": [np.array([1, 3]), np.zeros((2, 2), np.uint8), np.array(["a", "b"])],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, values in ARRAYS.items() for at in range(len(values))]
)
def test_absurd_arrays(tmp_path, name, at):
    header, arrays = parts()
    refuses(write(tmp_path / "m.npz", header, {**arrays, name: ARRAYS[name][at]}))


@pytest.mark.parametrize("name", ["present", "weights", "transitions", "lexicon_kinds"])
def test_arrays_that_are_not_there(tmp_path, name):
    header, arrays = parts()
    del arrays[name]
    refuses(write(tmp_path / "m.npz", header, arrays))


@pytest.mark.parametrize(
    ("header", "ties"),
    [
        ({}, np.zeros((3, 3))), ({}, np.full((2, 2), NAN)), ({}, np.array([[0, 1.0], [2, 0]])),
        ({}, np.zeros((2, 2), np.float32)), ({}, np.array("text")),
        ({"trust": NAN}, None), ({"trust": 0}, None), ({"trust": -1}, None), ({"trust": "1"}, None),
        ({"trust": None}, None), ({"rule": "none"}, None), ({"rule": None}, None),
        ({"rule": ["next"]}, None),
    ],
)  # fmt: skip
def test_absurd_ties(tmp_path, header, ties):
    good, arrays = parts()
    arrays = arrays if ties is None else {**arrays, "ties": ties}
    path = write(tmp_path / "m.npz", {**good, **header}, arrays)
    with pytest.raises(CorpusError, match=ONE_SENTENCE):
        load(path)


def test_foreign_files(tmp_path):
    path = tmp_path / "m.npz"
    spoiled = {
        "empty": b"", "text": b"PK but not really", "pickle": pickle.dumps({"labels": LABELS}),
        "zip": b"PK\x03\x04" + bytes(50),
    }  # fmt: skip
    for content in spoiled.values():
        path.write_bytes(content)
        refuses(path)
    np.save(tmp_path / "array.npy", np.zeros(3))
    refuses(tmp_path / "array.npy")
    refuses(tmp_path)
    refuses(tmp_path / "nowhere.npz")
    for name in ("", 5, b"bytes", "a\0b"):
        with pytest.raises(CorpusError, match="expected a model as the name of a file"):
            load(name)


def test_no_pickle_is_ever_read(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    header, arrays = parts()
    trap = np.array([Trap()], object)
    for name in ("weights", "ties", "more"):
        refuses(write(tmp_path / "m.npz", header, {**arrays, name: trap}))
    np.savez(tmp_path / "m.npz", header=trap)
    refuses(tmp_path / "m.npz")
    (tmp_path / "m.npz").write_bytes(pickle.dumps(Trap()))
    refuses(tmp_path / "m.npz")
    assert not (tmp_path / "sprung").exists()


def test_members_that_are_no_arrays(tmp_path):
    path = write(tmp_path / "m.npz", *parts())
    for name in ("ties", "weights", "header"):
        spoiled = tmp_path / "other.npz"
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(spoiled, "w") as new:
            for member in old.namelist():
                data = b"no array" if member == f"{name}.npy" else old.read(member)
                new.writestr(member, data)
        with pytest.raises(CorpusError, match=ONE_SENTENCE):
            load(spoiled)


@examples(60)
@given(st.data())
def test_broken_files_are_refused_or_read(tmp_path_factory, data):
    """Cut anywhere, any bytes changed: a checksum fails, or nothing that matters changed."""
    folder = tmp_path_factory.mktemp("broken")
    whole = write(folder / "m.npz", *parts()).read_bytes()
    broken = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 3)) if broken else 0):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    (folder / "m.npz").write_bytes(broken)
    try:
        chain = load(folder / "m.npz").chain
    except CorpusError:
        return
    assert same_chain(chain, make_chain(lexicon=chain.lexicon))


def test_nothing_is_half_written(tmp_path):
    path = tmp_path / "m.npz"
    save_chain(make_chain(), path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        save_chain(make_chain(1), path, card=object())
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["m.npz"]
    with pytest.raises(CorpusError, match="could not write"):
        CRF(bits=8, epochs=1).fit(WORDS, [["O"] * 4, ["O"]]).save(tmp_path / "no" / "m.npz")
    with pytest.raises(CorpusError, match="expected the model as the name of a file, got 3"):
        save_chain(make_chain(), 3)
