"""Lines become figures by family, by group and in all; what is not scored or not predicted stays out of them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO

import pytest

from simulator.io.terminal import WIDTH
from simulator.validation import baseline, lines, summary, tables
from simulator.validation.lines import Line
from simulator.validation.summary import Quantity

ONE = Line(suite="runs", id="a", family="F", quantity="step_time_s", unit="s", measured=10.0, predicted=11.0)


def runs(family: str, *errors: float, **changes: object) -> list[Line]:
    return [
        replace(ONE, id=f"{family}-{index}", family=family, predicted=10.0 * (1 + error), **changes)  # type: ignore[arg-type]
        for index, error in enumerate(errors)
    ]


def step_times(found: list[Line]) -> Quantity:
    (quantity,) = summary.summary(found).quantities
    return quantity


def test_figures_are_by_family_and_in_all() -> None:
    quantity = step_times([*runs("A", 0.1, 0.3), *runs("B", -0.2)])
    assert quantity.families["A"].median == pytest.approx(0.2)
    assert quantity.families["B"].bias == pytest.approx(-0.2)
    assert quantity.total is not None
    assert quantity.total.count == 3


def test_the_mean_over_families_leaves_small_ones_out() -> None:
    quantity = step_times([*runs("A", *[0.1] * 5), *runs("B", *[0.3] * 5), *runs("C", *[0.9] * 4)])
    assert quantity.means == pytest.approx({"families": 2, "median": 0.2, "mape": 0.2, "p90": 0.2, "worst_median": 0.3})


def test_lines_that_are_not_scored_are_in_no_figure() -> None:
    quantity = step_times([*runs("A", 0.1), *runs("B", 0.9, scored=False)])
    assert (quantity.rows, list(quantity.families)) == (1, ["A"])


def test_rows_without_a_prediction_are_counted_by_reason() -> None:
    dumb = replace(ONE, id="b", predicted=None, note="no dimensions")
    found = summary.summary([ONE, dumb, replace(dumb, id="c"), replace(dumb, id="c", quantity="oom")])
    assert (found.rows, found.expressed) == (3, 1)
    assert found.reasons == {"no dimensions": 2}
    assert step_times([ONE, dumb]).rows == 2


def test_groups_of_at_least_eight_layouts_are_ranked() -> None:
    times = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    big = [replace(ONE, id=str(t), group="big", measured=t, predicted=2 * t) for t in times]
    small = [replace(ONE, id=f"s{t}", group="small", measured=t, predicted=t) for t in times[:7]]
    quantity = step_times([*big, *small])
    assert list(quantity.groups) == ["big"]
    assert quantity.groups["big"].spearman == pytest.approx(1.0)


def test_kernels_are_grouped_by_size_and_not_ranked() -> None:
    small = [replace(ONE, suite="gemm", id=str(i), group="m < 1024", predicted=12.0) for i in range(8)]
    large = [replace(ONE, suite="gemm", id=f"l{i}", group="m >= 1024", predicted=10.0) for i in range(8)]
    quantity = step_times([*small, *large])
    assert not quantity.groups
    assert quantity.sizes["m < 1024"].mape == pytest.approx(0.2)
    assert quantity.size_means["m >= 1024"]["mape"] == pytest.approx(0.0)


def test_cases_of_reliability_are_summed_up_together() -> None:
    cases = [replace(ONE, suite="reliability", id=name, quantity=name) for name in ("goodput", "mtbf_s")]
    (quantity,) = summary.summary(cases).quantities
    assert (quantity.name, quantity.rows) == ("case", 2)
    assert not quantity.sizes


def test_one_constant_mfu_is_the_median_of_its_rows() -> None:
    """Ideal 5 s, measured 10, 12.5 and 20 s: MFU 50%, 40% and 25%, so the constant is 40% and every step 12.5 s."""
    found = [
        replace(ONE, id=str(time), measured=time, ideal=5.0, generation="ampere, 16 bit or more")
        for time in (10.0, 12.5, 20.0)
    ]
    assert baseline.constants(found) == pytest.approx({"ampere, 16 bit or more": 0.4})
    rival = step_times(found).baseline[""]
    assert rival.mape == pytest.approx((0.25 + 0 + 0.375) / 3)


def test_families_of_a_generation_count_alike() -> None:
    """MFU 10%, 10%, 10% in one family, 30% in another and 50% in a third: the constant is 30%."""
    many = [replace(ONE, id=str(i), ideal=1.0, generation="x") for i in range(3)]
    few = [
        replace(ONE, id=family, family=family, ideal=ideal, generation="x") for family, ideal in (("B", 3), ("C", 5))
    ]
    assert baseline.constants([*many, *few]) == pytest.approx({"x": 0.3})


def test_generations_have_constants_of_their_own() -> None:
    old, new = (replace(ONE, id=name, ideal=ideal, generation=name) for name, ideal in (("old", 4.0), ("new", 6.0)))
    assert baseline.constants([old, new]) == pytest.approx({"new": 0.6, "old": 0.4})


def test_probabilities_of_running_out_of_memory_have_figures_of_their_own() -> None:
    fits = replace(ONE, quantity="oom", unit="1", measured=0.0, predicted=0.1)
    died = replace(fits, id="b", family="G", measured=1.0, predicted=0.9)
    found = summary.summary([fits, died])
    assert not found.quantities
    assert set(found.fits) == {"", "G"}
    assert found.fits[""].accuracy == 1.0


def test_the_csv_has_the_columns_of_the_contract() -> None:
    text = lines.csv_text([ONE, replace(ONE, id="b", predicted=None, scored=False, note="why, not")])
    header = "suite,id,family,group,scored,quantity,unit,measured,predicted,low,high,error,note"
    assert text.splitlines()[0] == header
    first, second = csv.DictReader(StringIO(text))
    assert (first["predicted"], first["error"], first["scored"]) == ("11", "0.1", "1")
    assert (second["predicted"], second["error"], second["scored"], second["note"]) == ("", "", "0", "why, not")


def test_a_probability_has_no_error() -> None:
    assert replace(ONE, quantity="oom", measured=1.0, predicted=0.9).error is None


def test_the_json_holds_figures_and_lines() -> None:
    found = json.loads(summary.json_text(summary.summary([ONE]), [ONE]))
    assert found["quantities"][0]["families"]["F"]["count"] == 1
    assert found["lines"][0]["error"] == pytest.approx(0.1)


def test_the_tables_are_eighty_columns_wide_and_say_why_rows_are_missing() -> None:
    dumb = replace(ONE, id="b", predicted=None, note="the dimensions of the model are not stated")
    timed = [
        replace(
            ONE,
            id=str(i),
            family="a family with quite a long name",
            ideal=5.0,
            generation="x",
            group="g",
            low=9,
            high=12,
        )
        for i in range(8)
    ]
    text = tables.write(summary.summary([*timed, dumb, replace(ONE, quantity="oom", measured=1.0, predicted=0.8)]))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "8 of 9 scored rows predicted" in text
    assert "1 the dimensions of the model are not stated" in text
    assert "Spearman" in text
    assert "OUT OF MEMORY" in text
