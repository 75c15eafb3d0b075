"""Methods as JSON: what is written is read again, and nothing else is."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import herded as hd
from herded.methods.schedule import LinearCooling
from herded.methods.serialization import method_from_dict, method_to_dict, record_text, to_json
from herded.run.build_result import full_repr
from tests.conformance.golden import cases
from tests.support.example_budget import examples
from tests.support.fixtures import METHODS


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=True))


def test_every_method_with_bits_on_file_is_read_again():
    methods = {repr(run.method): run.method for _, run in cases()}
    assert len(methods) > 30
    for method in (*methods.values(), *METHODS):
        if not callable(getattr(method, "schedule", None)):
            found = method_from_dict(through_json(method.to_dict()))
            assert found == method and type(found) is type(method)


seeds = st.integers(0, 2**80)
scans = st.sampled_from(["auto", "sequential", "random", "jacobi"]) | st.permutations(range(5))
keys = st.integers(0, 9) | st.text(max_size=3) | st.tuples(st.integers(0, 9), st.integers(0, 9))
schedules = st.none() | st.just("linear") | st.builds(LinearCooling, st.floats(0.0, 1e300))
moves = st.builds(
    hd.Blocks,
    entries=st.integers(2, 2**40),
    count=st.integers(1, 99),
    blocks=st.none() | st.lists(st.lists(keys, max_size=4), min_size=1, max_size=4),
)
herds = st.integers(1, 2**16)
plain = st.builds(hd.Gibbs, seeds, scans, schedules, herds)
dampings = {"damping": st.floats(1e-300, 1.0), "tolerance": st.floats(0.0, 1e300)}
methods = st.one_of(
    plain,
    st.builds(hd.Gibbs, seeds, schedule=schedules, herd=herds, moves=moves),
    st.builds(
        hd.HerdedGibbs,
        st.sampled_from(["blanket", "shared", "pooled", "lazy", "full"]),
        st.floats(0.0, 64.0),
        scans,
        st.sampled_from(["half", "random"]),
        seeds,
        st.integers(1, 2**70),
    ),
    st.builds(hd.HerdedGibbs, seed=seeds, schedule=schedules, herd=herds, moves=moves),
    st.builds(
        hd.Tempered,
        st.builds(hd.Gibbs, seeds, scans, st.none(), herds),
        st.integers(2, 256),
        st.floats(0.0, 1.0, exclude_max=True),
        st.sampled_from(["components", "whole"]),
    ),
    st.builds(
        hd.BeliefPropagation, updates=st.sampled_from(["sequential", "parallel"]), **dampings
    ),
    st.builds(hd.MeanField, updates=st.sampled_from(["parallel", "checkerboard"]), **dampings),
    st.sampled_from([hd.Exact(), hd.Viterbi()]),
)


@examples(200)
@given(methods)
def test_any_method_is_read_again(method):
    written = method.to_dict()
    found = method_from_dict(through_json(written))
    assert found == method and full_repr(found) == full_repr(method) and found.to_dict() == written


atoms = st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text(max_size=5)
values = st.recursive(
    atoms,
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3)
    ),
    max_leaves=6,
)


def paths(record: Any) -> list[tuple[Any, ...]]:
    """Where the parts of a record are, itself among them."""
    is_list, is_dict = isinstance(record, list), isinstance(record, dict)
    inner = record.items() if is_dict else enumerate(record if is_list else ())
    return [(), *((key, *rest) for key, part in inner for rest in paths(part))]


def read_or_refuse(record: Any) -> Any:
    """The method, or the error's text."""
    try:
        return method_from_dict(record)
    except hd.HerdedError as error:
        return str(error)


@examples(300)
@given(methods, values, st.data())
def test_a_mutilated_method_is_refused_in_one_sentence(method, value, data):
    """Or it is another method, whose options are as good as any."""
    record = through_json(method.to_dict())
    *outer, last = data.draw(st.sampled_from([path for path in paths(record) if path]))
    place = record
    for key in outer:
        place = place[key]
    how = data.draw(st.sampled_from(["replace", "remove", "rename"]))
    if how == "replace":
        place[last] = value
    else:
        taken = place.pop(last)
        if how == "rename" and isinstance(place, dict):
            place[data.draw(st.text(max_size=5))] = taken
    found = read_or_refuse(record)
    if isinstance(found, str):
        assert found.startswith("expected ") and "\n" not in found
    else:
        assert read_or_refuse(through_json(found.to_dict())) == found
        assert isinstance(hash(found), int)


@examples(200)
@given(values)
def test_anything_else_is_refused(value):
    with pytest.raises(hd.MethodError, match="expected"):
        method_from_dict(value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("Gibbs()", r'a method as a JSON object with a "type", got .Gibbs'),
        ({"type": "Gibs"}, r"did you mean 'Gibbs'\?"),
        ({"type": "os.system"}, 'the "type" of a method out of Gibbs, HerdedGibbs'),
        ({"type": "Gibbs", "hers": 2}, r"options of Gibbs out of .*did you mean 'herd'\?"),
        ({"type": "Exact", "seed": 2}, "options of Exact out of none"),
        ({"type": "Gibbs", "seed": "1"}, "a whole number of 0 or more as seed"),
        ({"type": "Gibbs", "scan": [[0]]}, "a scan by name or as a list"),
        ({"type": "Gibbs", "moves": {"type": "Gibbs"}}, 'the "type" of moves out of Blocks'),
        ({"type": "Gibbs", "moves": {"type": "Blocks", "blocks": [0]}}, "blocks as lists"),
        ({"type": "Tempered", "method": {"type": "Tempered"}}, "the method to temper"),
        ({"type": "MeanField", "damping": 10**400}, "options that MeanField takes"),
    ],
)
def test_what_is_no_method(data, message):
    with pytest.raises(hd.MethodError, match=message):
        method_from_dict(data)


# -- of another package ----------------------------------------------------------------------------


def cooling(sweep, total, hot=1.0):
    return hot


@dataclass(frozen=True)
class Cooling:
    hot: float
    ends: tuple[int, ...] = (1, 2)

    def __call__(self, sweep, total):
        return self.hot


class Unnamed:
    """A schedule that shows itself by its address alone."""

    def __call__(self, sweep, total):
        return 1.0


class Chosen(Unnamed):
    """A schedule that decides what names it."""

    def to_dict(self):
        return {"class": "Chosen", "version": 3}


HERE = __name__


@pytest.mark.parametrize(
    ("schedule", "record"),
    [
        (cooling, {"function": f"{HERE}.cooling"}),
        (Cooling(2.0), {"class": "Cooling", "hot": 2.0, "ends": [1, 2]}),
        (Unnamed(), {"class": "Unnamed"}),
        (Chosen(), {"class": "Chosen", "version": 3}),
        (
            partial(cooling, hot=2.0),
            {
                "class": "partial",
                "of": {"function": f"{HERE}.cooling"},
                "args": [],
                "options": {"hot": 2.0},
            },
        ),
    ],
)
def test_schedules_of_others_are_told_apart_but_not_made(schedule, record):
    written = through_json(hd.Gibbs(schedule=schedule).to_dict())
    assert written["schedule"] == record
    with pytest.raises(hd.MethodError, match="a schedule of this package"):
        method_from_dict(written)


def test_methods_of_others_are_named_by_their_class_and_fields():
    @dataclass(frozen=True)
    class Gibbs:
        seed: int = 3
        table: Any = None

    written = method_to_dict(Gibbs(table=np.arange(2)))
    assert written["class"].endswith("Gibbs") and written["table"] == [0, 1]
    with pytest.raises(hd.MethodError, match="a method of this package"):
        method_from_dict(written)
    assert record_text(written).endswith("Gibbs(seed=3, table=(0, 1))")
    assert to_json(np.float64(0.5)) == 0.5 and to_json(hd.Gibbs) == {"class": "Gibbs"}
