"""Every scenario that states what was published gives it, within what it allows."""

from functools import cache
from pathlib import Path

import pytest

from simulator.outcome.results import Result
from simulator.scenario import read
from simulator.simulation import simulate

FOLDER = Path(__file__).parents[1] / "scenarios"
EVERY = sorted(FOLDER.glob("*/*.yaml"))
PUBLISHED = [path for path in EVERY if path.parent.name == "published"]


@cache
def result(path: Path) -> Result:
    return simulate(read(path, overrides=["runs=40"]))


def value(result: Result, key: str) -> float:
    found = result.as_dict()
    for name in key.split("."):
        found = found[name]
    return found


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_published_scenario_meets_its_expectations(path):
    scenario = read(path)
    assert scenario.source, "a published scenario names its source"
    assert scenario.expect
    for key, wanted in scenario.expect.items():
        found = value(result(path), key)
        if "value" in wanted:
            assert found == pytest.approx(wanted["value"], rel=wanted["within"]), key
        if "at_least" in wanted:
            assert found >= wanted["at_least"], key
        if "at_most" in wanted:
            assert found <= wanted["at_most"], key


@pytest.mark.parametrize("name", ["llama-3.1-405b-8k", "llama-3.1-405b-16k"])
def test_what_meta_ran_fits(name):
    assert result(FOLDER / "published" / f"{name}.yaml").verdict in ("fits", "tight")


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_parts_sum_to_their_totals(path):
    found = result(path)
    assert sum(found.step.parts_s.values()) == pytest.approx(found.step.time_s, rel=1e-9)
    assert sum(found.run.parts_s.values()) == pytest.approx(found.run.wall_clock_s.mean, rel=1e-9)
    for stage in found.memory.stages if found.memory else ():
        parts = sum(nbytes for name, nbytes in stage.items() if name != "peak_bytes")
        assert parts == pytest.approx(stage["peak_bytes"], rel=1e-9)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_the_same_scenario_and_seed_give_the_same_result(path):
    again = simulate(read(path, overrides=["runs=40"]))
    assert again.as_dict() == result(path).as_dict()


def test_without_failures_and_saves_a_run_takes_its_ideal_time():
    found = simulate(read(FOLDER / "tutorial/1-one-host.yaml", overrides=["checkpoint=none", "runs=3"]))
    assert found.run.wall_clock_s.mean == found.run.ideal_s
    assert found.run.goodput.mean == 1.0
    steps = 10e9 // (32 * 8192) + 1
    assert found.run.ideal_s == pytest.approx(steps * found.step.time_s)
