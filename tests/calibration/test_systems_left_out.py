"""Collectives predicted with constants in which their own system had no part."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from simulator.calibration import collectives
from simulator.calibration.collectives import Sample, System
from simulator.cli import app
from simulator.machine.collectives.links import fabric
from simulator.validation import files, goals

HERE, THERE = System("nvlink4", "here"), System("nvlink4", "there")
ELSEWHERE = System("nvlink3", "elsewhere")


def same(mine: System, other: System) -> bool:
    return mine == other


def generation(mine: System, other: System) -> bool:
    return mine.links == other.links


def ring(system: System, factor: float) -> Sample:
    return Sample(system, ("ring",), factor)


def test_a_share_is_what_other_sources_of_the_generation_measured():
    known = [ring(HERE, 0.5), ring(THERE, 1.1), ring(ELSEWHERE, 2.0)]
    assert collectives.without(HERE, known, same).ring == pytest.approx(1.1 * fabric("nvlink4").ring)


def test_a_source_counts_once_however_much_it_measured():
    known = [*[ring(THERE, 1.1)] * 9, ring(System("nvlink4", "third"), 0.9)]
    assert collectives.without(HERE, known, same).ring == pytest.approx(fabric("nvlink4").ring)


def test_where_nobody_else_measured_the_generation_nccls_own_number_stands_in():
    """NCCL counts on 20.6 of the 25 GB/s of an NVLink 4 (SM90_NVLINK_BW)."""
    known = [ring(HERE, 0.5), ring(ELSEWHERE, 1.0)]
    assert collectives.without(HERE, known, same).ring == pytest.approx(20.6 / 25)


def test_of_links_that_nccl_does_not_know_other_generations_stand_in():
    known = [ring(System("xgmi", "here"), 0.5), ring(ELSEWHERE, 1.0), ring(HERE, 1.0)]
    expected = (fabric("nvlink3").ring + fabric("nvlink4").ring) / 2
    assert collectives.without(System("xgmi", "here"), known, same).ring == pytest.approx(expected)


def test_a_generation_left_out_sees_no_source_of_its_own():
    known = [ring(HERE, 0.5), ring(THERE, 0.7), ring(ELSEWHERE, 1.0)]
    assert collectives.without(HERE, known, generation).ring == pytest.approx(20.6 / 25)


@pytest.mark.parametrize(("name", "efficiency", "rate"), [("nvlink4", 0.85, 20.6 / 25), ("nvlink5", 0.74, 40.1 / 50)])
def test_nccl_expects_nvls_at_its_efficiency_of_seven_eighths_of_a_ring(name, efficiency, rate):
    """Bus bandwidth 2 (n-1)/n (n-1)/n efficiency x ring, of which (n+1)/n x buffer crosses each link."""
    found = collectives.nccls_own(fabric(name))
    bus = 2 * 7 / 8 * 7 / 8 * efficiency * rate
    assert found["multicast_bus"] == pytest.approx(bus)
    assert found["multicast"] == pytest.approx(bus * (9 / 8) / (2 * 7 / 8))


def test_latencies_that_a_system_measured_are_nccls_own_without_it():
    azure = System("xgmi", "github:Azure/AI-benchmarking-guide")
    assert fabric("xgmi").latencies
    assert collectives.without(azure, [], same).latencies == ()
    assert collectives.without(System("xgmi", "another"), [], same).latencies == fabric("xgmi").latencies


def test_the_hop_over_efa_is_infinibands_without_the_machine_that_measured_it():
    measured = System("nvlink3", "github:aws-samples/awsome-distributed-training")
    assert collectives.network_without("efa", measured, False).latency == 0.0
    assert collectives.network_without("efa", HERE, False).latency == pytest.approx(64e-6)


@pytest.fixture(scope="module")
def tables():
    return [files.read(path) for path in files.shipped() if path.stem == "collectives"]


def test_systems_left_out_are_within_the_goals_times_a_factor(tables):
    reached = goals.goals(collectives.left_out(tables, tables, "each"), goals.LEFT_OUT)
    assert len(reached) == len(goals.GOALS)
    assert [goal.name for goal in reached if goal.errors.mape > goal.limit] == []


def test_generations_left_out_are_too(tables):
    found = [line for name in ("nvlink2", "nvlink3", "nvlink4", "nvlink5", "xgmi") for line in leave(tables, name)]
    reached = goals.goals(found, goals.LEFT_OUT)
    assert [goal.name for goal in reached if goal.errors.mape > goal.limit] == []


def leave(tables, name):
    return collectives.left_out(tables, tables, name)


def test_the_same_rows_are_predicted_with_a_system_left_out(tables):
    alone = {line.id for line in files.lines(tables, None) if line.predicted}
    assert {line.id for line in collectives.left_out(tables, tables, "each")} == alone


def test_the_command_leaves_a_generation_out(tables):
    done = CliRunner().invoke(app, ["validate", str(tables[0].path), "--json", "--leave-out", "xgmi"])
    found = json.loads(done.stdout)
    assert {line["family"] for line in found["lines"]} == {"MI300X, 1 x 8, all_reduce"}
    assert found["goals"][0]["limit"] == pytest.approx(1.3 * 0.06)


def test_a_generation_that_no_row_has_is_an_error(tables):
    done = CliRunner().invoke(app, ["validate", str(tables[0].path), "--leave-out", "nvlink9"])
    assert done.exit_code == 2
    assert "no such generation of links alone; one of nvlink2, nvlink3, nvlink4, nvlink5, xgmi, or each" in done.stderr
