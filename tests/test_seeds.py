"""The figures everybody in the field knows, from the program's own parts."""

import pytest

from simulator.machine import hardware
from simulator.machine.kernels import roofline
from simulator.outcome.cost import cost, distribution
from simulator.outcome.utilisation import utilisation
from simulator.workload.flops import flops_per_token
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack, States
from simulator.workload.states import widths
from simulator.workload.training import Training

H100 = hardware.gpu("h100-sxm-80gb")
LLAMA_70B = Model(layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, vocabulary=128256)


def test_the_state_of_70b_parameters_needs_fourteen_h100():
    # Weights and gradients in 16 bit, an fp32 master copy and two fp32 moments.
    states = States(weights="bf16", gradients="bf16", master="fp32", moments="fp32")
    width = widths(Rank.of(LLAMA_70B, Stack(states=states), Parallelism(), Training(steps=1, states=states)))
    each = width.weights + width.gradients + width.optimizer
    assert each == 16
    assert each * 70e9 == 1.12e12
    assert -(-each * 70e9 // 80e9) == 14


def test_llama_3_405b_takes_four_million_gpu_hours_at_400_teraflops():
    seconds = 6.3e24 / 400e12 / 16_000
    paid = cost(distribution([seconds]), gpus=16_000, gpu_hour=2.0, energy=0.0)
    assert paid.gpu_hours.mean == pytest.approx(4.4e6, rel=0.01)
    assert paid.dollars.mean == pytest.approx(2.0 * 4.4e6, rel=0.01)
    assert seconds / 86_400 == pytest.approx(11, rel=0.04)


def test_the_ridge_of_an_h100_is_295_flop_a_byte():
    assert roofline.ridge(H100, "bf16") == pytest.approx(295, abs=0.5)


def test_four_kept_tensors_of_a_4096_wide_layer_are_134_megabytes():
    model = Model(layers=1, hidden=4096, heads=32, vocabulary=32000)
    training = Training(steps=1, sequence_length=4096)
    rank = Rank.of(model, Stack(), Parallelism(), training)
    assert 4 * rank.stream == pytest.approx(134e6, rel=0.002)


def test_palm_540b_used_46_percent_of_6144_tpu_v4():
    # PaLM, arXiv 2204.02311, appendix B: 238.3K tokens a second, 6N + 12Lhqt with q t = 2,048 and 16,384 of width.
    model = Model(layers=118, hidden=18432, heads=48, head_size=256, kv_heads=1, ffn=73728, vocabulary=256000)
    n = 540.35e9
    attention = flops_per_token(model, 2048, "full") - flops_per_token(model, 2048, "6n")
    flops = 238.3e3 * (6 * n + attention) / 6144
    assert flops / 275e12 == pytest.approx(0.462, abs=0.002)


def test_utilisation_is_tokens_times_flops_over_peak():
    model = Model(layers=2, hidden=64, heads=4, vocabulary=100)
    training = Training(steps=1, sequence_length=128)
    used = utilisation(model, training, tokens_per_second_per_gpu=1e6, peak=1e15, parts={"compute": 1.0})
    assert used.mfu == pytest.approx(1e6 * flops_per_token(model, 128, "causal") / 1e15)
    assert used.hfu == used.mfu
    assert used.waterfall[0] == ("peak", 1e15)
    taken = sum(rate for name, rate in used.waterfall if name not in ("peak", "delivered"))
    assert used.waterfall[0][1] - taken == pytest.approx(used.waterfall[-1][1])
