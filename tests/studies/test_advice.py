"""What to change so that it fits: each change does what it says, and costs what it says."""

from __future__ import annotations

import time
from typing import Any

import pytest

from simulator import shipped
from simulator.report import fit
from simulator.scenario import from_dict, read
from simulator.simulation import fits, predict
from simulator.studies.advice import advise
from simulator.studies.remedies import MOST_HOSTS
from simulator.studies.together import _state
from simulator.workload.parameters import total_parameters, trained_parameters

TRAINING = {"tokens": "1T", "sequence_length": 8192, "global_batch": 128}
DENSE: dict[str, Any] = {
    "version": 1,
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 1},
    "stack": "megatron-core-2024",
    "parallelism": {"tensor": 2},
    "training": {**TRAINING, "microbatch": 4},
}
EXPERTS: dict[str, Any] = {
    "version": 1,
    "model": "mixtral-8x7b",
    "cluster": {"host": "hgx-h100", "hosts": 4},
    "stack": "megatron-core-2024",
    "parallelism": {"tensor": 2, "pipeline": 4, "expert": 4},
    "training": {**TRAINING, "microbatch": 2},
}
HUGE: dict[str, Any] = {
    "version": 1,
    "model": "llama-3-70b",
    "cluster": {"host": "hgx-h100", "hosts": 1},
    "stack": "megatron-core-2025",
    "training": {**TRAINING, "microbatch": 4},
}
UNNAMED: dict[str, Any] = {key: value for key, value in DENSE.items() if key != "stack"}
GIVEN = pytest.mark.parametrize(
    "given", [DENSE, EXPERTS, HUGE, UNNAMED], ids=["8B", "8x7B", "70B", "8B on a stack that is not named"]
)


@GIVEN
def test_every_change_makes_it_fit(given):
    assert fits(from_dict(given)).verdict == "oom"
    advice = advise(from_dict(given))
    assert advice
    assert {one.verdict for one in advice} == {"fits"}


@GIVEN
def test_a_change_written_with_set_gives_the_same_numbers(given):
    for one in advise(from_dict(given)):
        predicted = predict(from_dict(given, overrides=one.settings))
        assert predicted.step_time_s == pytest.approx(one.step_time_s)
        assert predicted.memory.p_fits == pytest.approx(one.p_fits)
        assert predicted.memory.peak_bytes == pytest.approx(one.peak_bytes)


@GIVEN
def test_the_cheapest_change_comes_first(given):
    costs = [one.cost for one in advise(from_dict(given))]
    assert costs == sorted(costs)


def test_on_the_same_gpus_the_cost_is_the_time():
    for one in advise(from_dict(DENSE)):
        if not any("cluster" in setting for setting in one.settings):
            assert one.cost == pytest.approx(one.time)


def test_twice_the_hosts_at_the_same_step_time_cost_twice_as_much():
    more = [one for one in advise(from_dict(EXPERTS)) if "cluster.hosts=8" in one.settings]
    assert more
    assert 1 + more[0].cost == pytest.approx(2 * (1 + more[0].time))


def test_another_gpu_costs_as_much_more_as_on_the_price_list():
    """$3.50 for an H200 hour, $2.50 for an H100 hour."""
    (h200,) = (one for one in advise(from_dict(EXPERTS)) if one.change == "h200-sxm-141gb")
    assert (1 + h200.cost) / (1 + h200.time) == pytest.approx(3.5 / 2.5)


def test_recompute_takes_as_few_layers_as_are_enough():
    (some,) = (one for one in advise(from_dict(DENSE)) if "layers a stage" in one.change)
    (setting,) = some.settings
    count = int(setting.partition("layers: ")[2].rstrip("}"))
    fewer = from_dict(DENSE, overrides=[f"training.recompute={{kind: full, layers: {count - 1}}}"])
    assert fits(fewer).verdict != "fits"


def test_expandable_segments_cost_nothing():
    (free,) = (one for one in advise(read(shipped.find("published/gpt-3-175b-korthikanti"))) if one.cost == 0)
    assert free.settings == ("stack.expandable_segments=true",)


def test_70b_takes_the_fewest_hosts_on_which_anything_fits():
    """18 bytes x 70.6e9 are 1,270 GB of state: more than the 640 GB of one host, and than the 1,280 of two."""
    assert {one.settings[0] for one in advise(from_dict(HUGE))} == {"cluster.hosts=4"}


def test_where_nothing_helps_there_is_no_advice():
    host = {"base": "dgx-1-v100", "gpu": "v100-sxm-16gb", "gpus": 1}
    given = {**HUGE, "model": "llama-3.1-405b", "cluster": {"host": host, "hosts": 1}}
    assert 18 * 405e9 / MOST_HOSTS > 16 * 2**30
    assert advise(from_dict({**given, "training": {**TRAINING, "precision": "fp16"}})) == ()


def test_where_it_fits_changes_save_a_tenth_of_the_peak_or_more():
    scenario = read(shipped.find("tutorial/1-one-host"))
    held = fits(scenario)
    assert held.verdict == "fits"
    advice = advise(scenario)
    assert advice
    assert all(one.peak_bytes <= 0.9 * held.peak_bytes for one in advice)


def test_a_measured_step_has_no_memory(measured):
    assert advise(read(measured)) == ()


def test_advice_is_written_as_options():
    (first, *_) = advise(from_dict(DENSE))
    above, below = fit.lines([first])
    assert above.startswith(first.change)
    assert below.strip().startswith("--set ")


@pytest.mark.benchmark
def test_llama_3_405b_takes_less_than_five_seconds():
    scenario = read(shipped.find("published/llama-3.1-405b-16k"))
    start = time.process_time()
    assert advise(scenario)
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize("ends", [[], ["embedding"], ["embedding", "head"]])
def test_the_least_state_of_adapters_is_the_whole_frozen_model_beside_them(ends):
    """Adapters come on top of the model; ends that are trained whole are a part of it."""
    document = {
        "model": {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 1000},
        "cluster": {"host": {"base": "hgx-h100"}, "hosts": 1},
        "training": {"steps": 1, "sequence_length": 128, "global_batch": 8, "method": {"kind": "lora"}},
    }
    document["training"]["method"]["modules_to_save"] = ends
    scenario = from_dict(document)
    tuning, model = scenario.training.tuning, scenario.model
    trained, tables = trained_parameters(model, tuning), len(ends) * 1000 * 64
    assert _state(scenario) * 8 == pytest.approx(18 * trained + 2 * (total_parameters(model) - tables))
