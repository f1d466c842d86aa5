"""``foretrain validate``: what it prints, for which file, and how it fails."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from simulator.cli import app

GEMM = """gpu,dtype,groups,m,n,k,time_us,op,note
A100 SXM,fp16,1,4096,4096,4096,600,square,
A100 SXM,fp16,1,8192,8192,8192,4300,square,
H100 SXM,fp16,1,8192,8192,8192,1600,square,
Abacus,fp16,1,8192,8192,8192,1600,square,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.csv"
    path.write_text(GEMM, encoding="utf-8")
    return path


def validate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["validate", *map(str, arguments)])


def test_a_table_is_summed_up_by_family(table: Path) -> None:
    done = validate(table)
    assert done.exit_code == 0
    assert "GEMM: kernel time, 3 of 4 scored rows predicted" in done.stdout
    assert "A100 SXM fp16" in done.stdout
    assert "no GPU named 'Abacus' in the catalog" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_csv_is_one_row_a_quantity(table: Path) -> None:
    rows = list(csv.DictReader(StringIO(validate(table, "--csv").stdout)))
    assert [row["family"] for row in rows] == ["A100 SXM fp16", "A100 SXM fp16", "H100 SXM fp16", "Abacus fp16"]
    for row in rows[:3]:
        error = float(row["predicted"]) / float(row["measured"]) - 1
        assert float(row["error"]) == pytest.approx(error, abs=1e-4)


def test_json_holds_the_same(table: Path) -> None:
    found = json.loads(validate(table, "--json").stdout)
    assert (found["rows"], found["expressed"]) == (4, 3)
    assert found["quantities"][0]["families"]["H100 SXM fp16"]["count"] == 1


def test_one_family_alone(table: Path) -> None:
    found = json.loads(validate(table, "--json", "--family", "H100 SXM fp16").stdout)
    assert found["rows"] == 1


def test_a_family_that_no_row_has_is_an_error(table: Path) -> None:
    done = validate(table, "--family", "KOR")
    assert done.exit_code == 2
    assert "no row of family KOR; there are A100 SXM fp16, Abacus fp16, H100 SXM fp16" in done.stderr


@pytest.mark.parametrize("name", ["abacus FP16", "Abacus fp61"])
def test_a_family_that_is_spelled_otherwise_is_found(table: Path, name: str) -> None:
    done = validate(table, "--family", name)
    assert done.exit_code == 2
    assert done.stderr.strip().endswith(f"no row of family {name}; did you mean Abacus fp16?")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_plot_is_written(table: Path, tmp_path: Path, suffix: str) -> None:
    assert validate(table, "--plot", tmp_path / f"errors.{suffix}").exit_code == 0
    assert (tmp_path / f"errors.{suffix}").stat().st_size > 1000


def test_a_plot_of_another_format_is_an_error(table: Path, tmp_path: Path) -> None:
    done = validate(table, "--plot", tmp_path / "errors.doc")
    assert done.exit_code == 2
    assert "a drawing ends in .png, .svg, .pdf" in done.stderr


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    done = validate(tmp_path / "nothing.csv")
    assert done.exit_code == 2
    assert "nothing.csv: no such file" in done.stderr
