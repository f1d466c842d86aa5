"""A ring all-reduce played message by message: what the closed form says is what the clock shows."""

import pytest
import simpy

from simulator.machine import collectives
from simulator.machine.channel import Channel

BANDWIDTH = 10e9
LATENCY = 5e-6


def play(ranks, nbytes):
    """Return the end of a ring all-reduce, the bytes that each rank sent, and the sums that each part reached."""
    env = simpy.Environment()
    inboxes = [simpy.Store(env) for _ in range(ranks)]
    parts = [[float(rank + 1) for _ in range(ranks)] for rank in range(ranks)]
    sent = [0.0] * ranks

    def rank(me):
        for step in range(2 * (ranks - 1)):
            part = (me - step) % ranks
            sent[me] += nbytes / ranks
            yield env.timeout(LATENCY + nbytes / ranks / BANDWIDTH)
            inboxes[(me + 1) % ranks].put((part, parts[me][part]))
            part, value = yield inboxes[me].get()
            adding = step < ranks - 1
            parts[me][part] = parts[me][part] + value if adding else value

    for me in range(ranks):
        env.process(rank(me))
    env.run()
    return env.now, sent, parts


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_every_rank_ends_with_the_sum(ranks):
    *_, parts = play(ranks, 1e6)
    assert parts == [[ranks * (ranks + 1) / 2] * ranks] * ranks


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_the_clock_shows_twice_n_minus_one_over_n(ranks):
    end, sent, _ = play(ranks, 1e9)
    ring = collectives.algorithms()["ring"]
    channel = Channel(ranks=ranks, ranks_per_host=ranks, scale_up_bandwidth=BANDWIDTH)
    bytes_sent = ring.up_bytes("all_reduce", 1e9, channel)
    assert sent == pytest.approx([bytes_sent] * ranks) == [pytest.approx(2 * (ranks - 1) / ranks * 1e9)] * ranks
    assert end == pytest.approx(ring.steps("all_reduce", channel) * LATENCY + bytes_sent / BANDWIDTH)
