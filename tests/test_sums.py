"""Sums of floats are the same bits in every Python, so that results are."""

from __future__ import annotations

import doctest

import pytest

from simulator import sums
from simulator.sums import added


def test_each_addition_is_rounded():
    assert doctest.testmod(sums).failed == 0
    assert added([1e16, 1.0, -1e16]) == 0.0


@pytest.mark.parametrize(("numbers", "total"), [([], 0), ([1, 2], 3), (iter((0.5, 1)), 1.5), ([True, True], 2)])
def test_whole_numbers_stay_whole(numbers, total):
    found = added(numbers)
    assert (found, type(found)) == (total, type(total))
