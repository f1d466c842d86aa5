"""The ledger that ships is what its tables say, and ranges are as wide as sources left out need."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from simulator import catalog
from simulator.calibration import ledger, residuals
from simulator.calibration.residuals import LeftOut, held, scale, unseen
from simulator.cli import app
from simulator.outcome.ledger import Ledger, merged, shipped
from simulator.outcome.step_error import HIGH
from simulator.outcome.student import quantile
from simulator.validation import files
from simulator.validation.rows import expression

RUNS = next(path for path in files.shipped() if path.stem == "runs")
DOES_NOT_SHIP = {"AA", "USP"}
"""Families whose licence keeps their rows out of the program."""


def test_the_ledger_is_what_the_tables_that_ship_say_and_names_what_does_not() -> None:
    counted = ledger.ledger([files.read(RUNS)])
    kept = {family.name for family in shipped().families if not family.ships}
    assert kept == DOES_NOT_SHIP
    assert merged(shipped(), counted) == shipped()
    assert Ledger(tuple(family for family in shipped().families if family.ships)) == counted


def test_the_file_is_what_is_written() -> None:
    path = Path(catalog.__file__).parent / "calibration" / "ledger.yaml"
    assert ledger.text(shipped()) == path.read_text(encoding="utf-8")


def test_a_row_is_predicted_on_software_that_another_source_knows() -> None:
    table = files.read(RUNS)
    rows = {row.text("family"): row for row in table.rows}
    plain = expression(rows["KOR"]).scenarios[0]
    assert plain["stack"]["base"] == "megatron-2022"
    assert unseen(rows["KOR"], plain, shipped()) == plain
    without = unseen(rows["KOR"], plain, shipped().without(["KOR"]))
    assert without["stack"]["base"] in ("megatron-2021", "megatron-2023")
    alone = unseen(rows["ievo"], expression(rows["ievo"]).scenarios[0], shipped().without(["ievo"]))
    assert alone["stack"]["base"] == "generic"


def _drawn(sd: float, sources: int, rows: int) -> list[LeftOut]:
    draws = np.random.default_rng(3).standard_t(5, (sources, rows))
    return [
        LeftOut(f"{s} {r}", str(s), str(s), "known", math.exp(1.5 * sd * x), 1.0, sd)
        for s, of_source in enumerate(draws)
        for r, x in enumerate(of_source)
    ]


def test_the_factor_is_what_sources_drawn_wider_than_the_levels_need() -> None:
    found = _drawn(0.1, 2000, 3)
    assert scale(found) == pytest.approx(1.5, rel=0.04)
    (whole, of_kind) = held(found, scale(found))
    assert whole.share == of_kind.share == pytest.approx(0.8, abs=0.01)
    assert whole.width == pytest.approx(2 * scale(found) * 0.1 * quantile(HIGH))


def test_a_source_with_many_rows_weighs_no_more_than_one_with_few() -> None:
    few = [LeftOut("x", "x", "x", "known", 1.5, 1.0, 0.1)]
    many = [LeftOut(f"{n}", "y", "y", "known", 1.05, 1.0, 0.1) for n in range(100)]
    assert scale(few + many) == scale(few + many[:1]) == few[0].needed


def test_a_miss_costs_ten_times_its_distance() -> None:
    one = LeftOut("x", "x", "x", "known", 1.0, 1.0, 0.1)
    inside, _ = held([one], 1.0)
    reach = math.log(one.range(1.0)[1])
    outside, _ = held([replace_ratio(one, math.exp(reach + 0.2))], 1.0)
    assert inside.score == pytest.approx(2 * reach)
    assert outside.score == pytest.approx(2 * reach + 2.0)


def replace_ratio(one: LeftOut, ratio: float) -> LeftOut:
    return one._replace(ratio=ratio)


def test_only_the_factor_is_written_again() -> None:
    text = "# scale: no\nscale: 1.20\nlevels:\n  run: {shared: 0.05}\n"
    assert residuals.rewritten(text, 1.374) == "# scale: no\nscale: 1.37\nlevels:\n  run: {shared: 0.05}\n"


class _Quick:
    """A prediction of one second for anything."""

    step_time_s = 1.0
    parts_s: ClassVar[dict[str, float]] = {"compute": 1.0}


@pytest.mark.parametrize(("family", "kind"), [("KOR", "software"), ("ZB", "software"), ("NM", "known")])
def test_a_neighbours_entry_predicts_and_the_doubt_is_that_of_unmeasured_software(family: str, kind: str) -> None:
    row = next(row for row in files.read(RUNS).rows if row.text("family") == family and row.text("score_time") != "0")
    predict: Any = lambda scenario: _Quick()  # noqa: E731
    found = residuals._left_out(shipped(), predict, row)
    assert found is not None
    assert found.kind.split("+")[0] == kind
    assert found.work == family


def test_the_command_writes_the_ledger_and_the_factor_and_keeps_what_does_not_ship(tmp_path: Path) -> None:
    head, *rows = RUNS.read_text(encoding="utf-8").splitlines()
    few = tmp_path / "few.csv"
    few.write_text(
        "\n".join([head, *[row for row in rows if row.split(",")[1] == "llmc"][:2]]) + "\n", encoding="utf-8"
    )
    done = CliRunner().invoke(app, ["calibrate", "--ledger", "--runs", str(few), "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "software" in done.stdout
    found = yaml.safe_load((tmp_path / "ledger.yaml").read_text(encoding="utf-8"))
    assert found["families"].keys() == {"llmc", *DOES_NOT_SHIP}
    assert yaml.safe_load((tmp_path / "residuals.yaml").read_text(encoding="utf-8"))["scale"] >= residuals.least()
