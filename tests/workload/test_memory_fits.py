"""The chance that a peak fits, and its verdict."""

from __future__ import annotations

import pytest

from simulator.workload.fits import CENTRE, chance, over_switches, verdict

GIB = 2**30


def test_half_of_the_runs_at_the_centre_fit():
    assert chance(CENTRE * 80 * GIB, 80 * GIB) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "share, expected", [(0.5, "fits"), (0.85, "fits"), (0.97, "tight"), (1.1, "oom"), (2.0, "oom")]
)
def test_verdict_follows_the_share_of_usable_memory(share, expected):
    assert verdict(chance(share * GIB, GIB)) == expected


def test_more_memory_never_fits_better():
    chances = [chance(share / 100 * GIB, GIB) for share in range(1, 300)]
    assert chances == sorted(chances, reverse=True)


def test_interleaving_without_expandable_segments_is_tight_at_58_8_of_80():
    assert verdict(chance(0.735 * 80 * GIB, 80 * GIB, expandable=False, chunks=5)) == "tight"
    assert verdict(chance(0.735 * 80 * GIB, 80 * GIB, expandable=True, chunks=5)) == "fits"
    assert verdict(chance(0.735 * 80 * GIB, 80 * GIB, expandable=False)) == "fits"


def test_what_moves_fragments_and_what_stays_does_not():
    still = chance(0.9 * GIB, GIB, moving=0.0, expandable=False)
    assert still == chance(0.9 * GIB, GIB)
    assert chance(0.9 * GIB, GIB, moving=0.6 * GIB, expandable=False) < 0.35 < still


def test_an_unsure_prediction_has_a_wider_band():
    assert chance(0.8 * GIB, GIB, spread=0.3) < chance(0.8 * GIB, GIB)
    assert chance(1.2 * GIB, GIB, spread=0.3) > chance(1.2 * GIB, GIB)


def test_nothing_needs_nothing():
    assert chance(0.0, GIB) == pytest.approx(1.0)


def test_a_switch_that_decides_makes_the_answer_tight():
    assert verdict(over_switches(0.01, (0.99,))) == "tight"
    assert verdict(over_switches(0.99, (0.01,))) == "tight"
    assert over_switches(0.4, ()) == 0.4
