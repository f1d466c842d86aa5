"""The error of a step: its distribution, the reasons behind its width, and that knowing less is never narrower."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simulator.outcome.intervals import comparable, step_error
from simulator.outcome.ledger import Cell, Family, Ledger, shipped
from simulator.outcome.levels import Level, beyond, levels
from simulator.outcome.step_error import HIGH, SURE, Reason, StepError
from simulator.outcome.student import below, quantile
from simulator.scenario import Scenario, from_dict

MODEL = {"layers": 4, "hidden": 8192, "heads": 64, "vocabulary": 32000}
TRAINING = {"steps": 1, "sequence_length": 4096, "global_batch": 64, "microbatch": 1}
MIXTURE = MODEL | {"experts": {"count": 8, "active": 2, "ffn": 8192}}
INVENTED = {
    "gpus": 8,
    "scale_up": {"domain": 8, "bandwidth": "5TB/s"},
    "nics": 8,
    "nic_bandwidth": "400Gbps",
    "gpu": {"architecture": "new", "memory": "500GiB", "memory_bandwidth": "30TB/s", "peak": {"bf16": "20PFLOPS"}},
}


def scenario(**more: Any) -> Scenario:
    cluster = {"host": more.pop("host", "hgx-h100"), "hosts": more.pop("hosts", 1)}
    training = TRAINING | more.pop("training", {})
    document = {"model": MODEL, "cluster": cluster, "stack": "nemo-2024", "training": training}
    return from_dict(document | more)


def width(one: Scenario, ledger: Ledger | None = None) -> float:
    return step_error(one, {"compute": 0.7, "data": 0.3}, ledger).sd_ln


@given(st.floats(-50, 50))
def test_the_distribution_is_student_t_with_five_degrees(x: float) -> None:
    assert below(x) == pytest.approx(stats.t(5).cdf(x), abs=1e-12)


@given(st.floats(1e-4, 1 - 1e-4))
def test_a_quantile_is_what_its_share_stays_below(share: float) -> None:
    # SciPy 1.12 has eight digits of it, newer ones have all.
    assert quantile(share) == pytest.approx(stats.t(5).ppf(share), rel=1e-7, abs=1e-9)


@given(st.floats(0.5, 2), st.floats(0.01, 0.8), st.floats(0.01, 0.99))
def test_ranges_and_chances_are_of_one_distribution(median: float, sd: float, share: float) -> None:
    error = StepError(median, (Reason("any", sd),))
    assert error.beyond(error.at(share)) == pytest.approx(1 - share, abs=1e-9)


def test_draws_from_the_model_are_held_as_often_as_it_says() -> None:
    """Sources and runs drawn from the levels that a scenario has, each run against the range of that scenario."""
    error = step_error(scenario(stack="generic", host=INVENTED), {})
    drawn = error.median * np.exp(error.sd_ln * np.random.default_rng(5).standard_t(5, 20_000))
    share = float(np.mean((error.low <= drawn) & (drawn <= error.high)))
    assert share == pytest.approx(0.8, abs=4 * math.sqrt(0.8 * 0.2 / 20_000))
    late = float(np.mean(drawn > 1.3))
    assert late == pytest.approx(error.beyond(1.3), abs=4 * math.sqrt(0.25 / 20_000))


@pytest.mark.parametrize("host", ["hgx-h100", "azure-nd-mi300x-v5", INVENTED])
@pytest.mark.parametrize("stack", ["nemo-2024", "generic"])
def test_squares_of_the_reasons_sum_to_the_whole_and_the_largest_comes_first(host: Any, stack: str) -> None:
    error = step_error(scenario(host=host, stack=stack, model=MIXTURE), {})
    assert sum(reason.sd_ln**2 for reason in error.reasons) == pytest.approx(error.sd_ln**2)
    sizes = [reason.sd_ln for reason in error.reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert error.high / error.median == pytest.approx(math.exp(error.sd_ln * quantile(HIGH)))


def test_a_gpu_that_nobody_has_gets_a_wider_range_than_an_h100() -> None:
    known, invented = scenario(), scenario(host=INVENTED)
    assert width(invented) > 2 * width(known)
    assert "accelerator" in step_error(invented, {}).reasons[0].what
    assert comparable(known) == "known"
    assert comparable(invented) == "software+vendor"


def test_figures_that_are_not_those_of_the_catalog_are_another_gpu() -> None:
    for format in ("bf16", "fp8"):
        host = {"base": "hgx-h100", "gpu": {"base": "h100-sxm-80gb", "peak": {format: "20PFLOPS"}}}
        assert width(scenario(host=host)) > width(scenario())


@pytest.mark.parametrize(
    ("known", "less"),
    [
        ({}, {"stack": "generic"}),
        ({}, {"stack": "nemo-2022"}),
        ({}, {"host": "azure-nd-mi300x-v5"}),
        ({}, {"host": {"base": "hgx-h100", "gpu": "h20-96gb"}}),
        ({}, {"host": "dgx-2", "training": {"precision": "fp16"}}),
        ({}, {"model": MIXTURE}),
        ({}, {"training": {"precision": "fp32"}}),
        ({}, {"training": {"optimizer": "muon"}}),
        ({}, {"training": {"sequence_length": 2**20}}),
        ({}, {"hosts": 4096, "training": {"global_batch": 4096 * 8}}),
        ({"stack": "megatron-2022"}, {"stack": "generic"}),
    ],
)
def test_knowing_less_is_never_narrower(known: dict[str, Any], less: dict[str, Any]) -> None:
    more, fewer = width(scenario(**known)), width(scenario(**less))
    assert fewer > more or ("stack" in known and fewer == more)


@pytest.mark.parametrize("size", ["hosts", "sequence"])
def test_beyond_what_was_measured_the_range_grows_without_a_jump(size: str) -> None:
    edge = shipped().reached(size)

    def at(times: float) -> float:
        value = int(edge * times)
        sizes = {"hosts": value, "training": {"global_batch": value * 8}}
        return width(scenario(**(sizes if size == "hosts" else {"training": {"sequence_length": value}})))

    found = [at(times) for times in (0.5, 1.0, 1.01, 2.0, 4.0)]
    assert found[0] == found[1] < found[2] < found[3] < found[4]
    assert found[2] < 1.1 * found[1]
    assert beyond(edge, edge) == 0.0


def test_what_a_framework_never_ran_is_no_wider_than_a_framework_that_nobody_ran() -> None:
    """Levels are nested, whatever a fit gives them."""
    of = levels()

    def size(level: Level) -> float:
        return math.hypot(level.shared, level.own)

    assert size(of["combination"]) <= size(of["software"])
    assert size(of["sibling"]) <= size(of["unrelated"]) <= size(of["vendor"])
    assert size(of["small_measured"]) <= size(of["small"])


def _ledger(works: int) -> Ledger:
    cell = Cell("nemo-2024", "nemo", "h100-sxm-80gb", "hopper")
    features = frozenset({"16-bit products"})
    return Ledger(
        tuple(
            Family(
                name=str(n), work=str(n), ships=True, runs=1, cells=(cell,), features=features, sequence=4096, hosts=1
            )
            for n in range(works)
        )
    )


def test_one_source_behind_an_entry_is_none() -> None:
    found = [width(scenario(), _ledger(works)) for works in range(4)]
    assert found[0] > found[1] > found[2] == found[3]


def test_families_of_one_work_are_one_source() -> None:
    two = _ledger(2)
    alike = Ledger(tuple(replace(family, work="same") for family in two.families))
    assert width(scenario(), alike) == width(scenario(), _ledger(1)) > width(scenario(), two)


def test_a_source_left_out_is_measured_where_another_stands() -> None:
    assert width(scenario(), _ledger(2).without(["0"])) == width(scenario(), _ledger(2))
    assert width(scenario(), _ledger(1).without(["0"])) > width(scenario(), _ledger(2))


def test_a_measured_step_is_sure() -> None:
    measured = from_dict({"cluster": {"host": INVENTED, "hosts": 1}, "training": {"steps": 1, "step_time": "1s"}})
    assert step_error(measured, {"compute": 1.0}) == SURE
    assert (SURE.low, SURE.high, SURE.sd_ln) == (1.0, 1.0, 0.0)
