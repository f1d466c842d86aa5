"""The errors of step times that ship: quantiles by class, of families that had no part in the fit."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from simulator.calibration.residuals import errors, text
from simulator.engine.prices.constants import constants, shared
from simulator.outcome.intervals import interval
from simulator.outcome.step_error import PROBABILITIES
from simulator.scenario import from_dict
from simulator.simulation import predict_step
from simulator.validation.measured import MeasuredRun

TINY = {
    "model": {"layers": 4, "hidden": 4096, "heads": 32, "vocabulary": 32000},
    "stack": "megatron-2022",
    "training": {"steps": 1, "sequence_length": 2048, "global_batch": 8, "microbatch": 1},
}


def runs(host: str, times: np.ndarray) -> list[MeasuredRun]:
    """Return runs that took so many times their prediction."""
    scenario = from_dict(TINY | {"cluster": {"host": host, "hosts": 1}})
    seconds = predict_step(scenario, shared())
    return [MeasuredRun(f"{host} {n}", host, scenario, ratio * seconds) for n, ratio in enumerate(times)]


def _errors(*groups: list[MeasuredRun]):
    found = [run for group in groups for run in group]
    return errors(found, {run.family: constants() for run in found}, predict_step)


def test_quantiles_are_those_of_measured_over_predicted():
    evenly = np.linspace(0.8, 1.3, 101)
    found = _errors(runs("dgx-a100", evenly))["ampere-volta"]
    assert found.ratios == pytest.approx([0.8 + 0.5 * probability for probability in PROBABILITIES])
    assert (found.runs, found.families) == (101, 1)


def test_what_was_never_measured_is_as_wide_as_the_widest_on_each_side():
    found = _errors(runs("dgx-a100", np.linspace(0.7, 1.2, 11)), runs("hgx-h100", np.linspace(0.9, 1.5, 11)))
    first, second, other = (found[kind].ratios for kind in ("ampere-volta", "nvidia-dense", "other"))
    assert other[:3] == first[:3]
    assert other[4:] == second[4:]
    assert other[3] == pytest.approx((first[3] + second[3]) / 2)


def test_the_file_keeps_them():
    found = _errors(runs("dgx-a100", np.linspace(0.8, 1.3, 11)))
    kept = yaml.safe_load(text(found))
    assert kept["probabilities"] == list(PROBABILITIES)
    assert kept["classes"]["ampere-volta"]["ratios"] == pytest.approx(found["ampere-volta"].ratios, abs=5e-4)


@pytest.mark.parametrize(
    ("host", "stack", "kind"),
    [
        ("hgx-h100", "nemo-2025", "nvidia-dense"),
        ("hgx-h100", "nanotron-2024", "hopper-dense"),
        ("dgx-a100", "nanotron-2024", "ampere-volta"),
        ("hgx-h100", "torchtitan-2025", "fsdp"),
    ],
)
def test_runs_are_alike_by_gpu_sharding_and_on_newer_ones_by_whose_software_it_is(
    host: str, stack: str, kind: str
) -> None:
    found = interval(from_dict(TINY | {"stack": stack, "cluster": {"host": host, "hosts": 1}}), {})
    assert found.kind == kind
    assert found.low < 1 < found.high
