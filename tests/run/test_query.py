"""`keep=` as named fields."""

import numpy as np
import pytest

import herded as hd
from herded.errors import MethodError
from herded.run.query import FIELDS, KeepOptions, parse_keep

CHOICES = (
    hd.Samples(every=3),
    hd.Marginals(),
    hd.ErrorCurve(np.full((2, 2), 0.5), rao_blackwell=True),
    hd.Observable(hd.energy),
    hd.Observable(hd.magnetisation),
)


def test_each_choice_has_a_field():
    keep = parse_keep(CHOICES)
    assert (keep.samples, keep.marginals, keep.error_curve) == CHOICES[:3]
    assert keep.each_observable == CHOICES[3:]
    assert keep.best_state is keep.pair_marginals is keep.joint is None
    assert set(FIELDS.values()) | {"observables"} == set(KeepOptions.__dataclass_fields__)


def test_the_error_curve_has_no_recorder():
    keep = parse_keep(CHOICES)
    assert hd.ErrorCurve in keep.kinds
    assert [type(one).__name__ for one in keep.recorded] == ["Marginals", "Samples", "Observables"]


@pytest.mark.parametrize(("index", "averages"), [(0, False), (1, False), (2, True)])
def test_who_averages_conditionals(index, averages):
    assert parse_keep([CHOICES[index]]).averages_conditionals is averages


def test_by_default_marginals_are_kept():
    assert parse_keep(None) == KeepOptions(marginals=hd.Marginals())
    assert parse_keep(None, rao_blackwell=True).averages_conditionals
    assert parse_keep([]) == KeepOptions()


def test_a_choice_comes_once():
    with pytest.raises(MethodError, match="expected Samples once in keep=, got it twice"):
        parse_keep([hd.Samples(), hd.Samples(every=2)])
