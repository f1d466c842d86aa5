"""`foretrain catalog` shows every kind, every entry and where it comes from."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from simulator import catalog, shipped
from simulator.cli import app
from simulator.cli.catalog import OPEN


def listed(*arguments: str) -> list[dict[str, str]]:
    done = CliRunner().invoke(app, ["catalog", *arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_every_kind_is_listed() -> None:
    assert {row["kind"] for row in listed()} == {*catalog.KINDS, *OPEN, "scenario"}


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_entry_is_listed_with_its_source(kind: str) -> None:
    rows = listed(kind)
    assert [row[kind] for row in rows] == list(catalog.names(kind))
    assert all(row["source"] for row in rows)


@pytest.mark.parametrize("kind", OPEN)
def test_every_kind_of_code_says_what_it_is(kind: str) -> None:
    rows = listed(kind)
    assert rows
    assert all(row["says"] for row in rows)


def test_scenarios_are_listed_by_the_name_that_run_takes() -> None:
    assert [row["scenario"] for row in listed("scenario")] == shipped.names()


def test_an_entry_is_shown_whole_by_name_or_alias() -> None:
    shown = CliRunner().invoke(app, ["catalog", "gpu", "H100"]).stdout
    assert "memory: 80GiB" in shown
    assert "source:" in shown


def test_a_table_fits_80_columns() -> None:
    for kind in (*catalog.KINDS, "topology"):
        shown = CliRunner().invoke(app, ["catalog", kind]).stdout
        assert max(map(len, shown.splitlines())) <= 80
