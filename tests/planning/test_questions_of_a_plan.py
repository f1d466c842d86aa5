"""Any one or two of FLOPs, parameters, tokens, ratio and loss give the rest."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import InfeasibleError, ScenarioError
from simulator.studies.plan import trade
from simulator.studies.plan.laws import law, laws
from simulator.studies.plan.laws.base import Choice
from simulator.studies.plan.planning import Request, plan
from simulator.studies.plan.question import Question, answer
from simulator.studies.plan.run import Budget, TypedIn

LAW = law("besiroglu-2024")
H100 = TypedIn(gpus=4096, rate=0.4 * 989e12, peak=989e12, price=2.3)


@pytest.mark.parametrize("given", ["flops", "parameters", "tokens", "ratio", "loss"])
def test_one_value_of_the_optimum_gives_the_optimum_back(given):
    best = LAW.optimum(1e22)
    if given == "ratio":
        with pytest.raises(ScenarioError, match="does not grow"):
            answer(LAW, Question(ratio=20.0))
        return
    value = {"flops": 1e22, **best._asdict(), "loss": LAW.loss(best)}[given]
    found = answer(LAW, Question(**{given: value}))
    assert found.parameters == pytest.approx(best.parameters, rel=1e-9)
    assert found.tokens == pytest.approx(best.tokens, rel=1e-9)


@settings(max_examples=50)
@given(
    parameters=st.floats(1e7, 1e12),
    tokens=st.floats(1e9, 1e14),
    pair=st.sampled_from(
        [
            (a, b)
            for a in ("flops", "parameters", "tokens", "ratio", "loss")
            for b in ("parameters", "tokens", "ratio")
            if a != b
        ]
    ),
)
def test_two_values_give_the_other_three(parameters, tokens, pair):
    choice = Choice(parameters, tokens)
    values = {**choice._asdict(), "flops": choice.flops, "ratio": choice.ratio, "loss": LAW.loss(choice)}
    found = answer(LAW, Question(**{name: values[name] for name in pair}))
    assert found.parameters == pytest.approx(parameters, rel=1e-4)
    assert found.tokens == pytest.approx(tokens, rel=1e-4)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question(), "nothing to plan from"),
        (Question(flops=1e20, parameters=1e9, tokens=1e10), "leave one out"),
        (Question(flops=-1.0), "more than zero"),
        (Question(flops=1e20, loss=2.0), "contradict"),
    ],
)
def test_too_little_and_too_much_are_refused(question, message):
    with pytest.raises(ScenarioError, match=message):
        answer(LAW, question)


@pytest.mark.parametrize("question", [Question(loss=1.8), Question(loss=2.0, parameters=1e8)])
def test_a_loss_below_the_floor_is_out_of_reach(question):
    with pytest.raises(InfeasibleError, match=r"no budget|out of reach"):
        answer(LAW, question)


def test_4096_h100_at_40_percent_take_a_week():
    found = plan(Request(question=Question(flops=1e24), cluster=H100)).run
    assert found.days == pytest.approx(7.14, abs=0.01)
    assert found.gpu_hours == pytest.approx(702_168, abs=1)


@pytest.mark.parametrize(
    ("parameters", "tokens", "machine", "days", "within"),
    [
        (13e9, 300e9, TypedIn(gpus=256, rate=45e12, factor=8.0), 31.35, 0.005),
        (4.30e23 / 6 / 300e9, 300e9, TypedIn(gpus=1024, rate=147e12), 33.0, 0.02),
        (2.7e9, 1.1e12, TypedIn(gpus=160, rate=0.3 * 312e12), 14.0, 1 / 14),
        (7e9, 1.2e12, TypedIn(gpus=1000, rate=0.58 * 312e12), 3.2, 0.02),
    ],
    ids=["BLOOM's 13B at hardware FLOPs", "OPT-175B ideal", "MiniCPM at 30%", "Baichuan-7B at 58%"],
)
def test_days_that_people_asked_about(parameters, tokens, machine, days, within):
    found = plan(Request(question=Question(parameters=parameters, tokens=tokens), cluster=machine)).run
    assert found.days == pytest.approx(days, rel=within)


@pytest.mark.parametrize(
    ("parameters", "tokens", "hours", "dollars"), [(7e9, 1e12, 29_491, 67_830), (1e9, 25e9, 105.3, 242.3)]
)
def test_gpu_hours_and_dollars_of_a_price_page(parameters, tokens, hours, dollars):
    machine = TypedIn(rate=0.4 * 989e12, peak=989e12, price=2.30)
    found = plan(Request(question=Question(parameters=parameters, tokens=tokens), cluster=machine)).run
    assert found.gpu_hours == pytest.approx(hours, rel=0.001)
    assert found.dollars == pytest.approx(dollars, rel=0.001)
    assert found.days is None


@pytest.mark.parametrize(
    "budget", [Budget(dollars=1e6), Budget(hours=434_782.6), Budget(days=434_782.6 / 4096 / 24)], ids=str
)
def test_a_budget_is_spent_to_the_end(budget):
    found = plan(Request(question=Question(), budgets=(budget,), cluster=H100)).run
    assert found.dollars == pytest.approx(1e6, rel=1e-6)


def test_the_tightest_of_several_budgets_counts():
    both = plan(Request(question=Question(), budgets=(Budget(dollars=1e6), Budget(days=2.0)), cluster=H100))
    assert both.run.days == pytest.approx(2.0)


def test_a_budget_needs_a_machine():
    with pytest.raises(ScenarioError, match="need a machine"):
        plan(Request(question=Question(), budgets=(Budget(days=2.0),)))


def test_every_law_that_gives_a_size_has_a_row_and_losses_stay_with_their_law():
    rows = {row["name"]: row for row in plan(Request(question=Question(flops=1e21))).rows}
    assert set(rows) == set(laws()) - {"hestness-2017"}
    for name, row in rows.items():
        assert row["flops"] == pytest.approx(1e21)
        assert row["loss"] == law(name).optimal_loss(1e21)
        assert row["in_range"] is (not row["outside"])


def test_beyond_the_fitted_runs_there_is_a_warning():
    inside, outside = (plan(Request(question=Question(flops=flops))) for flops in (1e21, 1e25))
    assert not any("beyond the fitted runs" in warning for warning in inside.warnings)
    assert any("1,000 times beyond the fitted runs" in warning for warning in outside.warnings)


def test_many_epochs_give_a_warning():
    found = plan(Request(question=Question(parameters=1e9, tokens=1e12), unique=1e11))
    assert found.rows[0]["epochs"] == pytest.approx(10)
    assert any("10.0 epochs" in warning for warning in found.warnings)


def test_a_small_model_trained_long_costs_more_than_the_cheapest_way_to_its_loss():
    best = LAW.optimum(1e23)
    assert trade.detour(LAW, best) == pytest.approx((1.0, 1.0), rel=1e-6)
    small = Choice(best.parameters / 4, LAW.tokens_for(best.parameters / 4, LAW.loss(best)))
    found = trade.detour(LAW, small)
    assert found.overtrained > 1
    assert found.flops == pytest.approx(small.flops / 1e23, rel=1e-6)


def test_serving_makes_the_best_model_smaller_at_the_same_loss():
    best = LAW.optimum(1e23)
    sizes = []
    for served in (1e3, 1e12, 1e13):
        found = trade.for_serving(LAW, LAW.loss(best), served)
        assert LAW.loss(found.choice) == pytest.approx(LAW.loss(best), rel=1e-9)
        assert found.saved >= -1e-9
        sizes.append(found.choice.parameters)
    assert sizes[0] == pytest.approx(best.parameters, rel=1e-3)
    assert sizes == sorted(sizes, reverse=True)


def test_a_mixture_of_experts_counts_by_its_active_parameters():
    found = plan(Request(question=Question(flops=1e22), sparsity=8.0))
    assert found.rows[0]["total_parameters"] == pytest.approx(8 * found.choice.parameters)


def test_the_critical_batch_grows_as_the_loss_falls():
    batches = [stage.batch_tokens for stage in plan(Request(question=Question(flops=1e22))).schedule]
    assert batches == sorted(batches)
    assert asdict(Budget(days=1.0))["days"] == 1.0


def test_a_loss_is_reached_by_each_law_on_its_own_scale():
    rows = plan(Request(question=Question(loss=2.0))).rows
    assert {row["name"] for row in rows} == {"besiroglu-2024", "hoffmann-2022-3", "kaplan-2020", "muennighoff-2023"}
    assert all(row["loss"] == pytest.approx(2.0) for row in rows)
