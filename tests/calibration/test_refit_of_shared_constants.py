"""The constants that runs share, fitted anew."""

from dataclasses import replace

import pytest

from simulator.calibration.runs import Linear, errors_of, moved, refit, rewritten, slopes_of, solve
from simulator.engine.prices.constants import Constant, Shared, constants
from simulator.scenario import from_dict
from simulator.simulation import predict_step
from simulator.validation.measured import MeasuredRun

TINY = {
    "model": {"layers": 4, "hidden": 4096, "heads": 32, "vocabulary": 32000},
    "cluster": {"host": "dgx-a100", "hosts": 1},
    "stack": "megatron-2022",
    "training": {"steps": 1, "sequence_length": 2048, "global_batch": 8, "microbatch": 1},
}


def runs(true: tuple[Constant, ...]) -> list[MeasuredRun]:
    """Return runs of two families that a machine with these constants would have measured."""
    found = []
    for number, hidden in enumerate((2048, 4096, 6144, 8192, 10240, 12288)):
        scenario = from_dict(TINY | {"model": TINY["model"] | {"hidden": hidden}})
        seconds = predict_step(scenario, Shared.of(true))
        found.append(MeasuredRun(str(number), "even" if number % 2 == 0 else "odd", scenario, seconds))
    return found


def changed(value: float) -> tuple[Constant, ...]:
    return tuple(
        replace(one, value=value, spread=10.0) if one.name == "products ampere" else replace(one, spread=1e-6)
        for one in constants()
    )


def test_a_refit_recovers_the_rate_that_made_the_measurements():
    fitted = refit(runs(changed(0.87)), tuple(replace(one, prior=one.value) for one in changed(0.97)), predict_step)
    assert {one.name: one.value for one in fitted}["products ampere"] == pytest.approx(0.87, rel=0.002)


def test_a_constant_that_no_run_depends_on_keeps_its_prior():
    start = tuple(replace(one, value=one.prior) for one in constants())
    fitted = {one.name: one.value for one in refit(runs(start), start, predict_step)}
    assert fitted["products volta"] == pytest.approx(1.0)
    assert fitted["software torchtitan"] == pytest.approx(1.0)


def test_no_constant_leaves_its_bounds():
    fitted = refit(runs(changed(0.5)), constants(), predict_step)
    assert all(one.low <= one.value <= one.high for one in fitted)


def test_solving_for_some_runs_is_a_refit_on_them_alone():
    """Slopes taken once serve whichever runs are left out: the linear answer is that of the nonlinear refit."""
    measured = runs(changed(0.9))
    start = tuple(replace(one, prior=one.value) for one in changed(0.94))
    alone = [run for run in measured if run.family == "odd"]
    linear = Linear(errors_of(measured, start, predict_step), slopes_of(measured, start))
    odd = [run.family == "odd" for run in measured]
    shift = solve(alone, start, Linear(linear.errors[odd], linear.slopes[odd]))
    fitted = {one.name: one.value for one in refit(alone, start, predict_step)}
    assert {one.name: one.value for one in moved(start, shift)}["products ampere"] == pytest.approx(
        fitted["products ampere"], rel=0.004
    )


def test_values_are_rewritten_in_place_and_nothing_else():
    text = "constants:\n  products:\n    ampere: {value: 0.970, prior: 0.97}\nsource: x\n"
    changes = tuple(one.with_value(0.9) for one in constants() if one.name == "products ampere")
    assert rewritten(text, changes) == text.replace("0.970", "0.900", 1)
