"""Laws give the numbers that their sources, and people who computed them in public, give."""

from __future__ import annotations

import math

import pytest

from simulator.studies.plan.batch import critical_batch
from simulator.studies.plan.laws import law, laws
from simulator.studies.plan.laws.base import Choice
from simulator.studies.plan.laws.besiroglu_2024 import Besiroglu
from simulator.studies.plan.laws.hoffmann_2022_3 import ApproachThree
from simulator.studies.plan.laws.kaplan_2020 import (
    PETAFLOP_DAY,
    loss_of_compute,
    loss_of_parameters,
    loss_of_tokens,
)
from simulator.studies.plan.laws.muennighoff_2023 import Muennighoff

ROUNDED = ApproachThree(e=1.69, a=406.4, b=410.7, alpha=0.34, beta=0.28)


@pytest.mark.parametrize(
    ("one", "flops", "parameters", "tokens"),
    [
        (ROUNDED, 2.21e19, 3.26e8, 1.129e10),
        (ApproachThree(), 2.21e19, 3.89e8, 9.47e9),
        (ROUNDED, 5.76e23, 3.22e10, 2.98e12),
        (ApproachThree(), 5.76e23, 4.04e10, 2.38e12),
        (ApproachThree(), 1.71e24, 6.63e10, 4.30e12),
        (ROUNDED, 1.71e24, 5.26e10, 5.42e12),
        (Besiroglu(), 1e21, 2.78e9, 6.00e10),
        (Besiroglu(), 5.76e23, 7.22e10, 1.329e12),
        (Besiroglu(), 1e18, 8.05e7, 2.07e9),
        (Besiroglu(), 1e24, 9.59e10, 1.74e12),
        (ROUNDED, 1e24, 4.13e10, 4.04e12),
    ],
)
def test_optimum_of_a_parametric_law(one, flops, parameters, tokens):
    best = one.optimum(flops)
    assert best.parameters == pytest.approx(parameters, rel=0.005)
    assert best.tokens == pytest.approx(tokens, rel=0.005)


@pytest.mark.parametrize(
    ("one", "parameters", "tokens", "loss"),
    [
        (ROUNDED, 70e9, 1.4e12, 1.9366),
        (Besiroglu(), 70e9, 1.4e12, 1.9739),
        (ROUNDED, 280e9, 300e9, 1.9933),
        (Besiroglu(), 280e9, 300e9, 1.9996),
        (ROUNDED, 8e9, 15e12, 1.9485),
        (Besiroglu(), 8e9, 15e12, 2.0221),
    ],
)
def test_loss_of_published_models(one, parameters, tokens, loss):
    assert one.loss(Choice(parameters, tokens)) == pytest.approx(loss, abs=6e-5)


@pytest.mark.parametrize(("flops", "loss"), [(1e21, 2.3055), (5.76e23, 1.9744)])
def test_optimal_loss_of_the_refit(flops, loss):
    assert Besiroglu().optimal_loss(flops) == pytest.approx(loss, abs=1e-4)


def test_rounded_constants_lose_at_the_smallest_budget_of_the_notebook():
    assert ROUNDED.optimal_loss(2.21e19) == pytest.approx(2.837, abs=0.001)


@pytest.mark.parametrize(("one", "exponent"), [(ROUNDED, 0.4516), (ApproachThree(), 0.4565), (Besiroglu(), 0.5126)])
def test_exponent_of_the_best_size(one, exponent):
    assert one.exponent == pytest.approx(exponent, abs=0.0005)


@pytest.mark.parametrize(
    ("name", "flops", "parameters"),
    [
        ("hoffmann-2022-1", 5.76e23, 67e9),
        ("hoffmann-2022-1", 1.92e19, 400e6),
        ("hoffmann-2022-1", 1.27e26, 1e12),
        ("hoffmann-2022-2", 5.76e23, 63e9),
        ("hoffmann-2022-2", 1.20e20, 1e9),
        ("hoffmann-2022-2", 1.59e26, 1e12),
    ],
)
def test_first_two_approaches_reproduce_the_tables_of_the_paper(name, flops, parameters):
    assert law(name).optimum(flops).parameters == pytest.approx(parameters, rel=0.02)


def test_approaches_to_chinchilla_disagree_at_its_own_budget():
    sizes = [law(f"hoffmann-2022-{number}").optimum(5.76e23).parameters for number in (1, 2, 3)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] / sizes[2] > 1.6


def test_twenty_tokens_a_parameter():
    best = law("twenty-tokens").optimum(1e24)
    assert best.parameters == pytest.approx(91e9, rel=0.005)
    assert best.tokens == pytest.approx(1.83e12, rel=0.005)


@pytest.mark.parametrize(
    ("parameters", "tokens", "flops"), [(175e9, 300e9, 3.15e23), (70e9, 1.4e12, 5.88e23), (402e9, 16.55e12, 3.99e25)]
)
def test_flops_of_published_models(parameters, tokens, flops):
    assert Choice(parameters, tokens).flops == pytest.approx(flops, rel=0.001)


def test_two_digits_of_llama_3_fall_short_of_its_own_text():
    llama = law("llama-3")
    assert llama.optimum(3.8e25).tokens == pytest.approx(1.05e13, rel=0.005)
    printed_to_three = 0.29 * 3.8e25**0.537
    assert printed_to_three == pytest.approx(1.58e13, rel=0.005)
    assert "16.55T" in llama.caution


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (loss_of_parameters(1.5e9), 2.304),
        (loss_of_parameters(1.75e11), 1.604),
        (loss_of_tokens(3e11), 1.638),
        (loss_of_compute(1000 * PETAFLOP_DAY), 1.882),
    ],
)
def test_losses_of_kaplan(value, expected):
    assert value == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(("loss", "tokens"), [(3.0, 1.07e6), (2.5, 2.55e6), (2.0, 7.37e6)])
def test_critical_batch(loss, tokens):
    assert critical_batch(loss) == pytest.approx(tokens, rel=0.005)


def test_kaplan_advises_1_3_billion_parameters_for_a_petaflop_day():
    best = law("kaplan-2020").optimum(PETAFLOP_DAY)
    assert best.parameters == pytest.approx(1.3e9)
    assert law("kaplan-2020").batch_tokens(best) == pytest.approx(2e6, rel=0.06)


def test_deepseek_sizes_and_tokens_multiply_to_the_budget():
    deepseek = law("deepseek-2024")
    tokens = 5.8316 * 1e20**0.4757
    assert deepseek.flops_per_token(1e20) * tokens == pytest.approx(1e20, rel=2e-4)
    assert deepseek.optimum(1e20).tokens == pytest.approx(tokens, rel=2e-4)


@pytest.mark.parametrize(
    ("layers", "hidden", "learning_rate", "batch"),
    [(30, 4096, 4.2e-4, 2304 * 4096), (95, 8192, 3.2e-4, 4608 * 4096)],
    ids=["7B", "67B"],
)
def test_deepseek_llms_were_trained_with_what_its_law_advises(layers, hidden, learning_rate, batch):
    """arXiv 2401.02954, table 2, and the README of github.com/deepseek-ai/DeepSeek-LLM: 2T tokens; C = M D with
    M = 72 L h^2 + 12 L h s at 4,096 tokens."""
    flops = (72 * layers * hidden**2 + 12 * layers * hidden * 4096) * 2e12
    choice = Choice(flops / 6 / 2e12, 2e12)
    assert choice.flops == pytest.approx(flops)
    assert law("deepseek-2024").learning_rate(choice) == pytest.approx(learning_rate, rel=0.03)
    assert law("deepseek-2024").batch_tokens(choice) == pytest.approx(batch, rel=0.1)


def test_four_epochs_are_nearly_as_good_as_new_data_and_many_gain_nothing():
    limited = Muennighoff().limited(1e11)
    four, new, forty, hundred = (
        limited.loss(Choice(1e9, 4e11)),
        Muennighoff().loss(Choice(1e9, 4e11)),
        limited.loss(Choice(1e9, 4e12)),
        limited.loss(Choice(1e9, 1e13)),
    )
    assert four == pytest.approx(new, rel=0.003)
    assert hundred == pytest.approx(forty, rel=0.002)
    assert limited.loss(Choice(1e9, 1e11)) == Muennighoff().loss(Choice(1e9, 1e11))


def test_with_little_data_the_best_model_is_smaller_and_sees_it_more_often():
    free, limited = Muennighoff().optimum(1e24), Muennighoff().limited(1e11).optimum(1e24)
    assert limited.flops == pytest.approx(1e24)
    assert limited.parameters < free.parameters
    losses = [Muennighoff().limited(1e11).loss(Choice(n, 1e24 / (6 * n))) for n in (0.5e10, 1e10, 2e10, 4e10, 8e10)]
    assert Muennighoff().limited(1e11).optimal_loss(1e24) <= min(losses)


@pytest.mark.parametrize("name", laws())
def test_every_law_says_where_it_comes_from_and_spends_the_whole_budget(name):
    one = law(name)
    assert "arXiv" in one.source
    best = one.optimum(1e21)
    assert best is None or best.flops == pytest.approx(1e21)


@pytest.mark.parametrize("name", [name for name in laws() if law(name).optimal_loss(1e21) is not None])
def test_more_compute_never_hurts(name):
    losses = [law(name).optimal_loss(10.0**power) for power in range(18, 27)]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("one", [ROUNDED, ApproachThree(), Besiroglu(), Muennighoff()])
def test_the_optimum_is_the_bottom_of_its_isoflop_curve(one):
    best = one.optimum(1e22)
    for factor in (0.9, 0.99, 1.01, 1.1):
        size = best.parameters * factor
        assert one.loss(Choice(size, 1e22 / (6 * size))) >= one.loss(best)
    assert not math.isclose(one.loss(Choice(best.parameters / 2, best.tokens * 2)), one.loss(best))
