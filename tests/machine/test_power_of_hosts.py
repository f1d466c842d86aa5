"""A host draws what its parts draw, and never more than it is rated for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import catalog
from simulator.machine.hardware import host
from simulator.machine.power import host_power

H100 = host("hgx-h100")


def test_eight_busy_h100_draw_eight_times_a_share_of_the_host_and_a_gpu():
    assert host_power(H100, 1.0) == pytest.approx(8 * (350 + 700))


@pytest.mark.parametrize("rated", [9000.0, 8000.0, 3000.0])
def test_a_host_draws_the_lesser_of_its_parts_and_its_rating(rated):
    assert host_power(replace(H100, power=rated), 1.0) == min(8400.0, rated)


@pytest.mark.parametrize("name", catalog.names("host"))
def test_no_host_of_the_catalog_draws_more_than_its_rating(name):
    found = host(name)
    assert host_power(found, 1.0, 1.0) <= (found.power or float("inf"))
