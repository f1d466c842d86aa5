"""Samples of uneven length: tokens, squares, padding and waits as closed forms."""

from math import exp, sqrt

import numpy as np
import pytest

from simulator.errors import ScenarioError
from simulator.outcome.uneven import uneven
from simulator.random import stream
from simulator.scenario import from_dict
from simulator.simulation import fits, predict, simulate
from simulator.workload.data import Data, shapes
from simulator.workload.lengths.fixed import Fixed
from simulator.workload.lengths.listed import Listed
from simulator.workload.lengths.lognormal import HEAVIEST, Lognormal

PACKINGS = ("none", "pad", "greedy", "padding-free")
SPREAD = Lognormal(mean=500, p90=1000)


def scenario(data=None, layout=None, **training):
    said = {"steps": 10, "sequence_length": 2048, "global_batch": 64, "microbatch": 4} | training
    return from_dict(
        {
            "model": {"layers": 4, "hidden": 1024, "heads": 16, "vocabulary": 32000},
            "cluster": {"host": {"base": "hgx-a100"}, "hosts": 1},
            "stack": "generic",
            "parallelism": layout or {},
            "training": said | ({"data": data} if data else {}),
            "runs": 2,
        }
    )


def lognormal(packing, **keys):
    return {"lengths": {"kind": "lognormal", "mean": 500, "p90": 1000}, "packing": packing} | keys


@pytest.mark.parametrize("packing", PACKINGS)
def test_samples_of_the_full_length_change_no_digit(packing):
    plain = predict(scenario())
    same = predict(scenario({"lengths": {"kind": "fixed", "tokens": 2048}, "packing": packing}))
    assert (same.step_time_s, same.parts_s, same.memory) == (plain.step_time_s, plain.parts_s, plain.memory)


@pytest.mark.parametrize("packing", ["pad", "padding-free"])
def test_samples_of_one_length_are_sequences_of_that_length(packing):
    plain = predict(scenario(sequence_length=512))
    same = predict(scenario({"lengths": {"kind": "fixed", "tokens": 512}, "packing": packing}))
    assert (same.step_time_s, same.memory) == (plain.step_time_s, plain.memory)


def test_a_lognormal_has_its_mean_and_its_90th_percentile():
    drawn = SPREAD.at(stream(0, "test").random(400_000))
    assert drawn.mean() == pytest.approx(500, rel=0.01)
    assert np.quantile(drawn, 0.9) == pytest.approx(1000, rel=0.01)


@pytest.mark.parametrize("ratio", [0.9, HEAVIEST * 1.01])
def test_no_lognormal_has_such_a_90th_percentile(ratio):
    with pytest.raises(ScenarioError, match="p90 lies between"):
        Lognormal(mean=100, p90=100 * ratio)


def test_a_list_has_the_shares_that_it_says():
    drawn = Listed(text="tokens,samples\n100,3\n900,1\n").drawn(stream(0, "test"), 100_000, 10_000)
    assert set(drawn) == {100, 900}
    assert (drawn == 900).mean() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("text", ["100\nlong\n", "0\n", "1,2,3\n", "tokens\n", "5,-1\n"])
def test_a_list_that_is_wrong_says_where(text):
    with pytest.raises(ScenarioError):
        Listed(text=text)


def test_a_microbatch_of_joined_samples_has_their_sum_and_the_sum_of_their_squares():
    found = shapes(Data(lengths=SPREAD, packing="padding-free"), 100_000, 8)
    variance = 500**2 * (exp(SPREAD.sigma**2) - 1)
    assert found.tokens.mean() == pytest.approx(8 * 500, rel=0.02)
    assert found.squares.mean() == pytest.approx(8 * (500**2 + variance), rel=0.05)
    assert found.tokens.std() == pytest.approx(sqrt(8 * variance), rel=0.05)
    assert found.padding == 0


def test_padding_to_the_longest_of_two_lengths():
    """Of b samples, each short with probability q, all are short with q^b."""
    found = shapes(Data(lengths=Listed(text="100,3\n900,1\n"), packing="pad"), 2048, 4)
    short = 0.75**4
    assert found.tokens.mean() == pytest.approx(4 * (100 * short + 900 * (1 - short)), rel=0.02)
    assert found.real.mean() == pytest.approx(4 * 300, rel=0.02)


def test_greedy_packing_of_short_samples_fills_sequences_and_attends_inside_samples():
    found = shapes(Data(lengths=Fixed(tokens=100), packing="greedy"), 1000, 2)
    assert found.padding == 0
    assert set(found.squares) == {2 * 10 * 100**2}
    short = shapes(Data(lengths=Lognormal(mean=20, p90=40), packing="greedy"), 8192, 1)
    assert short.padding < 0.01
    assert short.squares.mean() < 0.02 * 8192**2


@pytest.mark.parametrize("batch_by", ["samples", "tokens"])
def test_packings_waste_less_in_their_order(batch_by):
    waste = [shapes(Data(lengths=SPREAD, packing=name, batch_by=batch_by), 2048, 8).padding for name in PACKINGS]
    assert waste[0] > waste[1] > waste[2] > waste[3] == 0


def test_batches_by_tokens_stay_within_them():
    for packing in ("pad", "padding-free"):
        found = shapes(Data(lengths=SPREAD, packing=packing, batch_by="tokens"), 2048, 8)
        assert found.tokens.max() <= 8 * 2048


def test_padding_free_batches_take_no_longer_and_no_more_memory_than_padded_ones():
    padded, free = (scenario(lognormal(packing)) for packing in ("pad", "padding-free"))
    assert predict(free).step_time_s < predict(padded).step_time_s
    assert fits(free).peak_bytes <= fits(padded).peak_bytes


def test_ranks_wait_for_the_longest_sample_as_long_as_the_largest_of_so_many():
    """One sample per rank and step: the step is that of the longest of n samples, which order statistics give."""
    one = scenario(lognormal("padding-free"), microbatch=1, global_batch=8)
    drawn = SPREAD.drawn(stream(3, "test"), 8 * 50_000, 2048).reshape(-1, 8).max(axis=1)
    longest, mean = drawn.mean(), SPREAD.drawn(stream(3, "test"), 400_000, 2048).mean()
    parts = predict(one).parts_s
    flat = predict(scenario(microbatch=1, global_batch=8, sequence_length=round(mean)))
    slow = predict(scenario(microbatch=1, global_batch=8, sequence_length=round(longest)))
    growth = slow.step_time_s - flat.step_time_s
    assert parts["straggler"] - flat.parts_s["straggler"] == pytest.approx(growth, rel=0.25)


def test_more_microbatches_even_out_unless_ranks_do_each_together():
    def share(layout, batch):
        parts = predict(scenario(lognormal("padding-free"), layout, global_batch=batch)).parts_s
        return parts["straggler"] / sum(parts.values())

    assert share({}, 32 * 16) < 0.5 * share({}, 32)
    sharded = {"shard": "parameters"}
    assert share(sharded, 32 * 16) > 0.7 * share(sharded, 32)


def test_a_bubble_is_as_long_as_the_longest_microbatch():
    layout = {"pipeline": 4}
    even = predict(scenario(None, layout, sequence_length=500, global_batch=32, microbatch=1))
    spread = predict(scenario(lognormal("padding-free"), layout, global_batch=32, microbatch=1))
    assert spread.parts_s["bubble"] > 1.3 * even.parts_s["bubble"]


def test_tokens_per_second_count_no_padding():
    found = simulate(scenario(lognormal("pad")))
    drawn = shapes(Data(lengths=SPREAD, packing="pad"), 2048, 4)
    assert found.step.tokens_per_s * found.step.time_s == pytest.approx(16 * drawn.real.mean())
    assert found.step.mfu < simulate(scenario(lognormal("padding-free"))).step.mfu


def test_a_huge_batch_is_answered_and_evens_out():
    few, most = (scenario(lognormal("padding-free"), microbatch=1, global_batch=8 * m) for m in (16, 400_000))
    assert uneven(most).waiting < 0.005 < 0.05 < uneven(few).waiting
