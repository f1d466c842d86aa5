"""Efficiency as GPUs are added follows what was published, and what the latency of rings leaves."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

from generators import scaling


def test_efficiency_follows_what_was_published_within_six_points():
    for name, (measured, expected) in scaling.published().items():
        assert sorted(measured) == [8, 16, 32, 64, 128, 256, 512, 1024]
        for gpus, share in measured.items():
            assert expected[gpus] == pytest.approx(share, abs=0.06), (name, gpus)


def test_a_ring_over_all_gpus_loses_what_copies_of_a_few_hosts_keep():
    flat, hybrid = scaling.predicted(hybrid=False), scaling.predicted(hybrid=True)
    assert all(flat[gpus] <= hybrid[gpus] + 0.01 for gpus in scaling.GPUS)
    assert list(flat.values()) == sorted(flat.values(), reverse=True)
    assert hybrid[131072] > 0.9
    # Where latency is all that is left, four times the ranks take four times as long.
    assert flat[131072] / flat[32768] == pytest.approx(1 / 4, rel=0.3)
