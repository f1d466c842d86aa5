"""FLOPs a token, against the numbers that papers print."""

import pytest
from model_entries import NAMES, model

from simulator.workload.blocks.attention import Window, keys_per_query
from simulator.workload.blocks.latent import Latent
from simulator.workload.flops import (
    CONVENTIONS,
    attention_flops_per_token,
    flops_per_token,
    multiplied_parameters,
    recomputed_flops_per_token,
)
from simulator.workload.model import Model
from simulator.workload.parameters import total_parameters

SMALL = {"layers": 5, "hidden": 64, "heads": 4, "vocabulary": 1000}
KORTHIKANTI = [
    ("megatron-22b", 4, 1.10, 8, 0.415, 0.437),
    ("megatron-175b", 64, 13.75, 64, 0.514, 0.528),
    ("megatron-530b", 280, 37.83, 280, 0.560, 0.570),
    ("megatron-1t", 512, 71.49, 512, 0.563, 0.570),
]


def test_palm_reaches_46_percent_of_its_chips():
    """238.3K tokens/s on 6,144 TPU v4 of 275 TFLOP/s: 46.2% (arXiv 2204.02311, table 3)."""
    mfu = 238.3e3 * flops_per_token(model("palm-540b"), 2048, "full") / (6144 * 275e12)
    assert mfu == pytest.approx(0.462, abs=0.0005)


@pytest.mark.parametrize(
    ("name", "tokens", "flops", "within"),
    [
        ("gpt-3-175b", 300e9, 3.14e23, 0.002),
        ("chinchilla-70b", 1.4e12, 5.88e23, 0.002),
        ("llama-3.1-405b", 15.6e12, 3.8e25, 0.01),
        ("llama-3.1-70b", 15e12, 6.3e24, 0.01),
        ("gopher-280b", 300e9, 5.04e23, 0.002),
    ],
)
def test_training_takes_6_n_d(name, tokens, flops, within):
    assert tokens * flops_per_token(model(name), 2048, "6n") == pytest.approx(flops, rel=within)


def test_a_70b_model_on_15t_tokens_takes_eleven_days_of_16000_h100():
    hours = 6.3e24 / 400e12 / 3600
    assert hours == pytest.approx(4.4e6, rel=0.01)
    assert hours / 16_000 / 24 == pytest.approx(11.4, rel=0.01)


def test_full_recompute_has_narayanans_formula():
    """96 B s L h^2 (1 + s/6h + V/16Lh) (arXiv 2104.04473, equation 3): layers go forward twice, the head once."""
    h, layers, s, vocabulary = 12288, 96, 2048, 51200
    gpt = model("megatron-175b")
    hardware = flops_per_token(gpt, s, "full") + recomputed_flops_per_token(gpt, s, "full")
    formula = 96 * layers * h**2 * (1 + s / (6 * h) + vocabulary / (16 * layers * h))
    assert hardware == pytest.approx(formula, rel=2e-4)


@pytest.mark.parametrize(("name", "batch", "time", "gpus", "mfu", "hfu"), KORTHIKANTI)
def test_model_flops_give_korthikantis_mfu(name, batch, time, gpus, mfu, hfu):
    """72 B L s h^2 (1 + s/6h + V/12Lh) over step time and 312 TFLOP/s (arXiv 2205.05198, table 5)."""
    tokens = batch * 2048 / time / gpus / 312e12
    flops = flops_per_token(model(name), 2048, "full")
    assert tokens * flops == pytest.approx(mfu, abs=0.002)


@pytest.mark.parametrize(("name", "batch", "time", "gpus", "mfu", "hfu"), KORTHIKANTI)
def test_korthikanti_counts_the_repeated_attention_three_times(name, batch, time, gpus, mfu, hfu):
    """Their hardware FLOPs, 72 B L s h^2 (1 + s/3h + V/12Lh), add a whole forward and backward of its core."""
    tokens = batch * 2048 / time / gpus / 312e12
    repeated = recomputed_flops_per_token(model(name), 2048, "full", "selective")
    assert tokens * (flops_per_token(model(name), 2048, "full") + 3 * repeated) == pytest.approx(hfu, abs=0.002)


def test_hardware_over_model_flops_tends_to_four_thirds():
    deep = Model(layers=1000, hidden=64, heads=4, vocabulary=10)
    ratio = 1 + recomputed_flops_per_token(deep, 128) / flops_per_token(deep, 128)
    assert ratio == pytest.approx(4 / 3, rel=1e-4)


def test_conventions_differ_by_half_of_attention():
    shape, s = Model(**SMALL), 128
    n, causal, full = (flops_per_token(shape, s, convention) for convention in CONVENTIONS)
    assert n == 6 * (total_parameters(shape) - 1000 * 64)
    assert causal - n == 6 * 5 * s * 64
    assert full - n == 12 * 5 * s * 64


def test_the_head_counts_once_whether_tied_or_not():
    assert multiplied_parameters(Model(**SMALL, tied=True)) == multiplied_parameters(Model(**SMALL, tied=False))


def test_position_tables_are_looked_up_and_not_multiplied():
    learned = Model(**SMALL, positions="learned", max_positions=4096)
    assert multiplied_parameters(learned) == multiplied_parameters(Model(**SMALL))


def test_heads_wider_than_hidden_count_with_their_width():
    wide = Model(**SMALL, head_size=32)
    assert attention_flops_per_token(wide, 128, "full") == 12 * 5 * 128 * (4 * 32)


def test_latent_attention_counts_the_mean_of_its_heads():
    latent = Latent(q_rank=8, kv_rank=8, rope_size=4, nope_size=8, value_size=8)
    shape = Model(**SMALL, attention=latent)
    assert attention_flops_per_token(shape, 128, "full") == 12 * 5 * 128 * 4 * (12 + 8) / 2


def test_grouped_queries_do_the_same_attention():
    assert attention_flops_per_token(Model(**SMALL, kv_heads=1), 128) == attention_flops_per_token(Model(**SMALL), 128)


@pytest.mark.parametrize("window", [1, 7, 64, 100, 128, 500])
def test_a_window_leaves_the_mean_of_what_each_query_sees(window):
    seen = [min(position, window) for position in range(128)]
    assert keys_per_query(128, window, "causal") == pytest.approx(sum(seen) / 128, abs=0.51)


def test_layers_without_a_window_see_everything():
    windowed = Model(layers=4, hidden=64, heads=4, vocabulary=10, attention=Window(window=32, full_every=2))
    assert attention_flops_per_token(windowed, 128, "full") == 12 * 64 * (2 * 32 + 2 * 128)


def test_an_mtp_module_costs_a_layer_a_projection_and_the_head():
    plain, mtp = Model(**SMALL), Model(**SMALL, mtp=1)
    layer = (total_parameters(plain) - 2 * 1000 * 64 - 64) // 5
    added = multiplied_parameters(mtp) - multiplied_parameters(plain)
    assert added == layer + 2 * 64 * 64 + 3 * 64 + 1000 * 64
    assert attention_flops_per_token(mtp, 128) == attention_flops_per_token(plain, 128) * 6 / 5


@pytest.mark.parametrize("name", NAMES)
def test_more_counted_attention_is_never_fewer_flops(name):
    shape = model(name)
    n, causal, full = (flops_per_token(shape, 4096, convention) for convention in CONVENTIONS)
    assert n < causal < full
    assert recomputed_flops_per_token(shape, 4096, "full", "none") == 0
    selective = recomputed_flops_per_token(shape, 4096, "full", "selective")
    assert selective < recomputed_flops_per_token(shape, 4096, "full") < full / 3
