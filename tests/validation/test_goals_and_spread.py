"""What collectives are meant to reach, and how far sources are apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.io.terminal import WIDTH
from simulator.validation import files, goals, page, spread, summary, tables
from simulator.validation.lines import Line, Reported

ONE = Line(
    suite="collectives",
    id="a",
    family="F",
    group="one host, 32 to 512 MiB",
    quantity="time_us",
    unit="us",
    measured=10.0,
    predicted=11.0,
)


def by_name(*lines: Line) -> dict[str, goals.Goal]:
    return {goal.name: goal for goal in goals.goals(lines)}


def test_a_goal_takes_the_size_classes_it_is_about():
    small = replace(ONE, group="one host, below 1 MiB", predicted=13.0)
    found = by_name(ONE, small)
    assert found["inside a host, 32 MiB and above"].errors.mape == pytest.approx(0.1)
    assert found["all sizes"].errors.mape == pytest.approx(0.2)
    assert "across hosts, 32 MiB and above" not in found


def test_bandwidth_counts_by_the_time_it_means():
    """Twice the bandwidth is half of the time: an error of one half."""
    rate = replace(ONE, quantity="busbw_gbs", measured=100.0, predicted=200.0)
    assert by_name(rate)["all sizes"].errors.mape == pytest.approx(0.5)


def test_other_tables_have_no_goals():
    assert goals.goals([replace(ONE, suite="gemm")]) == ()


def said(source: str, rate: float, setting: str = "8 GPUs") -> Line:
    return replace(ONE, reported=Reported(setting, source, rate))


def test_the_spread_is_of_settings_with_several_sources():
    """Three sources, 90, 100 and 125: the median is 100, off by 1/9, 0 and 1/5."""
    lines = [said("a", 90.0), said("b", 100.0), said("c", 125.0), said("a", 1.0, "alone")]
    found = spread.spread(lines, [ONE.group])
    assert found is not None
    assert (found.settings, found.median) == (1, pytest.approx(125 / 90 - 1))
    assert found.mape == pytest.approx((1 / 9 + 0 + 1 / 5) / 3)


def test_a_source_that_measured_twice_has_one_voice():
    lines = [said("a", 90.0), said("a", 110.0), said("b", 100.0)]
    found = spread.spread(lines, [ONE.group])
    assert found is not None
    assert found.median == 0.0


def test_sources_alone_have_no_spread():
    assert spread.spread([said("a", 90.0)], [ONE.group]) is None


@pytest.fixture(scope="module")
def shipped() -> summary.Summary:
    read = [files.read(path) for path in files.shipped() if path.stem == "collectives"]
    return summary.summary(files.lines(read, None))  # type: ignore[arg-type]


def test_eight_a100_at_32_mib_are_133_143_and_164_in_three_sources(shipped):
    assert shipped.spread is not None
    widest = shipped.spread.widest[0]
    assert widest.name == "8 GPUs on nvlink3 (300 GB/s), all_reduce, 32 MiB"
    assert [round(rate / 1e9) for rate in widest.rates] == [133, 143, 164]


def test_collectives_reach_what_they_are_meant_to(shipped):
    assert len(shipped.goals) == len(goals.GOALS)
    assert [goal.name for goal in shipped.goals if goal.errors.mape > goal.limit] == []


def test_goals_and_spread_are_printed(shipped):
    text, written = tables.write(shipped), page.write(shipped)
    assert max(map(len, text.splitlines())) <= WIDTH
    for shown in (" ".join(text.split()), written):
        assert "133, 143, 164 GB/s" in shown
        assert "inside a host, 32 MiB and above" in shown


def test_a_sharp_row_is_predicted_by_the_switches_that_add():
    read = [files.read(path) for path in files.shipped() if path.stem == "collectives"]
    rows = [row for table in read for row in table.rows if row.text("algo") == "CollNet/SHARP"]
    (line,) = read[0].suite.lines(rows, None)  # type: ignore[arg-type]
    assert line.predicted is not None
    assert line.predicted == pytest.approx(480, rel=0.15)
