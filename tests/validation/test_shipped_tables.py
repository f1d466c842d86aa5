"""The tables that ship: whose rows they hold, and that each row is either a scenario or has a reason."""

from __future__ import annotations

from collections import Counter

import pytest

from simulator.validation import files
from simulator.validation.expression import InexpressibleError
from simulator.validation.rows import expression

TABLES = {path.stem: path for path in files.shipped()}
NO_DIMENSIONS = "the dimensions of the model are not stated"


def test_the_tables_are_of_six_kinds() -> None:
    assert {name: files.read(path).suite.kind for name, path in TABLES.items()} == {
        "attention": "attention",
        "collectives": "collectives",
        "gemm": "gemm",
        "memory_bound": "memory-bound",
        "reliability_cases": "reliability",
        "runs": "runs",
    }


@pytest.mark.parametrize("name", TABLES)
def test_every_row_names_its_source(name: str) -> None:
    assert all(row.text("source") for row in files.read(TABLES[name]).rows)


@pytest.mark.parametrize("name", TABLES)
def test_rows_whose_licence_forbids_it_are_not_among_them(name: str) -> None:
    rows = files.read(TABLES[name]).rows
    assert not {row.text("family") for row in rows} & {"AA", "USP", "pbs", "sky"}
    assert not [row.line for row in rows if "coreweave" in row.text("source").lower()]


def test_every_run_is_a_scenario_or_has_a_reason() -> None:
    reasons: Counter[tuple[str, str]] = Counter()
    expressed = 0
    for row in files.read(TABLES["runs"]).rows:
        try:
            assert expression(row).scenarios
            expressed += 1
        except InexpressibleError as error:
            reasons[row.text("family"), str(error)] += 1
    assert expressed == 1797
    assert reasons == {
        ("mb", NO_DIMENSIONS): 29,
        ("mds", NO_DIMENSIONS): 10,
        ("dgxc", NO_DIMENSIONS): 7,
        ("zoo", NO_DIMENSIONS): 1,
    }


def test_no_run_falls_back_to_the_generic_stack_but_those_of_no_named_framework() -> None:
    generic = set()
    for row in files.read(TABLES["runs"]).rows:
        try:
            if expression(row).scenarios[0]["stack"]["base"] == "generic":
                generic.add(row.text("stack"))
        except InexpressibleError:
            pass
    assert generic == {"other"}
