"""What is left out is gone from everything that was read from it, and from nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from simulator import catalog
from simulator.calibration import behind, left_out_runs, left_out_scores
from simulator.calibration.leave_out.base import FAR, Origin, on_software, stand_ins
from simulator.calibration.leave_out.together import Together, asked, origins
from simulator.calibration.left_out_runs import Taught
from simulator.calibration.runs import Linear
from simulator.cli import app
from simulator.engine.prices.constants import constants
from simulator.errors import ScenarioError
from simulator.machine import hardware
from simulator.machine.kernels import constants as kernel_tables
from simulator.machine.kernels.constants import kernel_constants, overlaid
from simulator.outcome.familiar import facts
from simulator.outcome.ledger import Ledger, shipped
from simulator.outcome.levels import doubts
from simulator.scenario import from_dict
from simulator.validation import files, stacks
from simulator.validation.expression import Expression
from simulator.validation.files import Table
from simulator.validation.lines import Line
from simulator.validation.measured import MeasuredRun
from simulator.validation.rows import expression

RUNS = next(path for path in files.shipped() if path.stem == "runs")
FEW = ("KOR", "NAR", "ZB", "llmc", "ds", "MCH", "ML", "zoo", "MLT", "tune", "tt", "mb", "dgxc", "NLR", "ievo")
"""Families of all vendors and generations."""
LINE = Line(suite="runs", id="", family="", quantity="step_time_s", unit="s", measured=1.0)


@pytest.fixture(scope="module")
def runs() -> list[Origin]:
    """Two runs of each of a few families."""
    table = files.read(RUNS)
    kept = [
        row for name in FEW for row in [one for one in table.rows if one.text("family") == name and scored(one)][:2]
    ]
    found, silent = origins([Table(path=table.path, suite=table.suite, rows=tuple(kept))])
    assert not silent
    return found


def scored(row: Any) -> bool:
    return bool(row.text("score_time") in ("", "1", "1.0"))


def left(word: str, runs: list[Origin]) -> Together:
    (found,) = asked([word], runs, shipped())
    return found


def said(origin: Origin) -> Expression:
    return expression(origin.row)


@pytest.mark.parametrize("name", sorted(frozenset().union(*behind.kernels().values())))
def test_a_gpu_left_out_has_the_constants_of_tables_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = hardware.gpu(name)
    without = left(f"gpu:{name}", [origin_on(gpu.architecture, name)]).things[0].gpu(gpu)
    entries = {table: catalog.entry("calibration", table) for table in ("gemm", "attention", "memory-bound")}
    other = behind.sibling(name)
    for entry in entries.values():
        own = entry["gpus"].pop(name, None)
        if other is None:
            entry["architectures"].pop(gpu.architecture, None)
            entry.get("watts_per_teraflop", {}).pop(gpu.architecture, None)
        elif own:
            entry["architectures"][gpu.architecture] = overlaid(
                entry["architectures"][gpu.architecture], entry["gpus"].get(other, {})
            )
    monkeypatch.setattr(kernel_tables, "_table", entries.__getitem__)
    expected = kernel_constants(replace(gpu, best_matmul={}))
    monkeypatch.undo()
    assert replace(kernel_constants(without), spread=expected.spread) == expected
    assert without.peak == gpu.peak
    assert without.memory_bandwidth == gpu.memory_bandwidth


def origin_on(architecture: str, name: str) -> Origin:
    """Return a run on an accelerator, whatever else it has."""
    table = files.read(RUNS)
    (found,), _ = origins([Table(path=table.path, suite=table.suite, rows=table.rows[:1])])
    return found._replace(facts=found.facts._replace(gpu=name, architecture=architecture))


def test_every_kernel_table_says_what_it_was_measured_on() -> None:
    tables = [catalog.entry("calibration", name) for name in ("gemm", "attention", "memory-bound")]
    assert {name for table in tables for name in table["architectures"]} == behind.kernels().keys()
    for name in tables[0]["gpus"]:
        assert name in behind.kernels()[hardware.gpu(name).architecture]
    assert all(hardware.gpu(name) for measured in behind.kernels().values() for name in measured)


def test_every_shared_constant_is_read_from_some_work_and_what_does_not_ship_is_named() -> None:
    found = {(one.where, one.name): one for one in behind.entries(shipped())}
    assert all(found["shared.yaml", constant.name].behind for constant in constants())
    kept = {name for (where, name), one in found.items() if where == "shared.yaml" and one.behind == one.kept}
    assert kept == {"software nanotron", "software aleph-alpha"}


def test_a_constant_without_any_work_left_goes_to_its_prior_though_its_rows_do_not_ship(runs: list[Origin]) -> None:
    found = {one.name: one for one in left("source:USP", runs).constants(constants(), shipped(), without("USP"))}
    assert found["software nanotron"].value == found["software nanotron"].prior
    shipped_values = {one.name: one.value for one in constants()}
    assert {name for name, one in found.items() if one.value != shipped_values[name]} == {"software nanotron"}


def without(work: str) -> Ledger:
    return shipped().without((work,))


def test_a_source_that_no_run_is_of_changes_nothing(runs: list[Origin]) -> None:
    ledger = Ledger(tuple(family for family in shipped().families if family.work != "AA"), confirmed=1)
    gone = left("source:AA", runs)
    assert gone.unknown_to(ledger) == ledger
    assert taught(runs).without(gone, ledger) == constants()
    for origin in runs[::3]:
        plain = said(origin).scenarios[0]
        if ledger.behind(stack=plain["stack"]["base"]):
            assert gone.plain(origin, plain, ledger) == plain
        assert gone.scenario(from_dict(plain)) == from_dict(plain)


def taught(runs: list[Origin], wrong: str = "") -> Taught:
    """Return runs that are off by 2%, or by 40% where they are of one work; half of them on products alone."""
    known = constants()
    errors = np.array([0.4 if origin.work == wrong else 0.02 for origin in runs])
    slopes = np.tile([-0.5 if one.group == "elementwise" else 0.0 for one in known], (len(runs), 1))
    measured = tuple(MeasuredRun("", origin.family, Any, 1.0) for origin in runs)  # type: ignore[arg-type]
    return Taught(tuple(runs), measured, known, Linear(errors, slopes))


def test_constants_move_to_what_the_other_runs_say(runs: list[Origin]) -> None:
    """A source that says 40% too slow pulls the constant up; without it the constant falls."""
    before = {one.name: one.value for one in constants()}
    found = {one.name: one.value for one in taught(runs, "NLR").without(left("source:NLR", runs), shipped())}
    assert found["elementwise all"] < before["elementwise all"]
    assert found["products hopper"] == before["products hopper"]


@pytest.mark.parametrize("kind", ["source", "family", "stack", "gpu", "architecture"])
def test_the_levels_that_are_left_are_those_of_what_is_familiar(kind: str, runs: list[Origin]) -> None:
    for origin in runs:
        thing = next(one for one in asked([f"each:{kind}"], runs, shipped()) if one.meets(origin))
        after = thing.unknown_to(shipped())
        scenario = from_dict(said(origin).scenarios[0])
        known = facts(scenario)
        found = {doubt.kind for doubt in doubts(scenario, {}, after)}
        behind_stack = after.behind(stack=known.stack)
        new = len(behind_stack) < after.confirmed or not after.behind(
            framework=known.framework, architecture=known.architecture
        )
        assert ("software" in found) == (new or known.stack == "generic")
        if kind == "stack":
            assert not behind_stack
        if kind == "gpu" and known.vendor == "NVIDIA":
            others = after.behind(architecture=known.architecture)
            assert found & {"sibling", "unrelated"} == ({"sibling"} if others else {"unrelated"})
        if kind == "architecture":
            assert found & {"unrelated", "vendor"}


def test_an_entry_stays_where_another_work_stands_behind_it_and_a_stack_left_out_becomes_generic(
    runs: list[Origin],
) -> None:
    zoo = next(run for run in runs if run.family == "zoo")
    plain = said(zoo).scenarios[0]
    source = left("source:zoo", runs)
    assert source.plain(zoo, plain, source.unknown_to(shipped())) == plain
    stack = left("stack:megatron-core-2025", runs)
    assert stack.plain(zoo, plain, stack.unknown_to(shipped()))["stack"]["base"] == "generic"


@given(st.sampled_from(sorted({claim.framework for claim in stacks.claims()})), st.integers(2015, 2035))
def test_what_stands_in_is_of_the_framework_near_in_years_and_generic_at_last(framework: str, year: int) -> None:
    *near, last = stand_ins(framework, year, shipped())
    years = {claim.name: claim for claim in stacks.claims() if claim.framework == framework}
    assert last == "generic"
    away = [years[name].distance(year) for name in near]
    assert away == sorted(away)
    assert all(distance < FAR for distance in away)
    assert all(shipped().behind(stack=name) for name in near)
    same = [(one, other) for one, other in pairwise(near) if years[one].distance(year) == years[other].distance(year)]
    assert all(years[one].first > years[other].first for one, other in same)


def test_an_entry_that_cannot_run_the_layout_does_not_stand_in(runs: list[Origin]) -> None:
    """Megatron of 2020 has no pipelines; the run has one."""
    run = next(run for run in runs if run.family == "NAR" and run.row.whole("pp") != 1)
    plain = said(run).scenarios[0]
    assert on_software(plain, ("megatron-2020", "megatron-2023"))["stack"]["base"] == "megatron-2023"
    assert on_software(plain, ("megatron-2020", "generic"))["stack"]["base"] == "generic"


def test_what_is_left_out_together_is_gone_together(runs: list[Origin]) -> None:
    (both,) = asked(["stack:megatron-2022", "gpu:h100-sxm-80gb"], runs, shipped())
    after = both.unknown_to(shipped())
    assert not after.behind(stack="megatron-2022")
    assert not after.behind(gpu="h100-sxm-80gb")
    assert after.behind(gpu="a100-sxm-80gb")


def test_a_run_of_what_is_left_out_has_a_line_with_its_range_or_its_reason(runs: list[Origin]) -> None:
    ledger = shipped()
    gone = left("source:llmc", runs)
    task = left_out_runs.Task(gone, tuple(run for run in runs if gone.meets(run)), constants(), ledger)
    lines = left_out_runs.Predicted()(task)
    assert len(lines) == 2
    for line in lines:
        assert line.predicted
        assert line.low
        assert line.high
        assert line.low < line.high
        assert line.without == "source llmc"
        assert line.comparable.startswith("software")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gpu:h1000"], "no such gpu; one of"),
        (["colour:red"], "found 'colour', expected one of architecture, family, gpu, source, stack"),
        (["each:gpu", "KOR"], "give it alone"),
    ],
)
def test_what_nothing_has_is_an_error(words: list[str], message: str, runs: list[Origin]) -> None:
    with pytest.raises(ScenarioError, match=message):
        asked(words, runs, shipped())


def lines_of(
    thing: str, ratios: list[float], low: float = 0.5, high: float = 2.0, kind: str = "software"
) -> list[Line]:
    return [
        replace(LINE, measured=ratio, predicted=1.0, low=low, high=high, without=thing, comparable=kind)
        for ratio in ratios
    ]


def test_a_thing_with_many_runs_weighs_no_more_than_one_with_few() -> None:
    *_, whole = left_out_scores.figures([*lines_of("a", [1.0] * 99), *lines_of("b", [3.0])])
    assert (whole.things, whole.runs) == (2, 100)
    assert whole.held == pytest.approx(0.5)
    assert whole.width == pytest.approx(2 * np.log(2))
    assert whole.score == pytest.approx(2 * np.log(2) + 0.5 * 10 * np.log(1.5))


def test_the_constant_range_of_a_thing_is_from_all_others() -> None:
    """Runs of b need 0.3; a is scored with that, and b with the 0.1 of a."""
    *_, whole = left_out_scores.figures([*lines_of("a", [exp(0.1)] * 5), *lines_of("b", [exp(0.3)] * 5)])
    assert whole.constant == pytest.approx((0.6 + (0.2 + 10 * 0.2)) / 2)


def test_nothing_else_left_out_gives_no_constant_range() -> None:
    assert [one.constant for one in left_out_scores.figures(lines_of("a", [1.1]))] == [None, None]


def test_the_command_prints_a_table_of_eighty_columns(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    head, *rows = RUNS.read_text(encoding="utf-8").splitlines()
    few = tmp_path / "few.csv"
    few.write_text("\n".join([head, *[row for row in rows if row.split(",")[1] == "llmc"]]) + "\n", encoding="utf-8")
    monkeypatch.setattr(left_out_runs, "FITTED", 1)
    monkeypatch.setattr(left_out_runs, "taught", lambda origins, mapped: taught(list(origins)))
    done = CliRunner().invoke(app, ["validate", str(few), "--leave-out", "source:llmc", "--most", "1", "--jobs", "1"])
    assert done.exit_code == 0, done.stderr
    assert "new software" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
