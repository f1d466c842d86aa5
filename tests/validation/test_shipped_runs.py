"""Shipped runs are predicted by all processors as by one, and a failure of one row does not stop the others."""

from __future__ import annotations

from simulator.simulation import predict
from simulator.validation import files
from simulator.validation.predict import lines


def test_workers_keep_the_order_of_the_rows() -> None:
    runs = files.read(next(path for path in files.shipped() if path.stem == "runs"))
    few = [row for row in runs.rows if row.text("family") in ("VTS",)][:60]
    assert runs.suite.lines(few, predict, workers=2) == runs.suite.lines(few, predict)


def test_a_failure_of_the_program_is_noted_and_the_other_rows_go_on() -> None:
    runs = files.read(next(path for path in files.shipped() if path.stem == "runs"))
    (row,) = (row for row in runs.rows if row.text("id") == "KOR-0001")

    def broken(scenario: object) -> object:
        raise IndexError("out of range")

    found = list(lines(row, broken))  # type: ignore[arg-type]
    assert [line.predicted for line in found] == [None, None]
    assert found[0].note == "a defect of the program: IndexError: out of range"
