"""How fast published runs are predicted, one after the other in one process that starts with nothing known.

Run with ``pytest -m benchmark tests/benchmarks -s``; processor time, so that a busy machine says the same.
"""

from __future__ import annotations

import sys
from statistics import median
from time import process_time

import pytest

from simulator.errors import ForetrainError
from simulator.scenario import from_dict
from simulator.simulation import predict
from simulator.validation import files
from simulator.validation.expression import InexpressibleError
from simulator.validation.predict import step_time
from simulator.validation.row import Row
from simulator.validation.rows import expression


def rows() -> list[Row]:
    """Return the shipped runs that say how long a step takes."""
    read = [files.read(path) for path in files.shipped() if path.stem == "runs"]
    return [row for table in read for row in table.rows if step_time(row)]


@pytest.mark.benchmark
def test_the_median_row_is_predicted_sooner_than_its_scenario_is_read() -> None:
    reading, predicting = [], []
    for row in rows():
        begun = process_time()
        try:
            scenario = from_dict(expression(row).scenarios[0])
            read = process_time()
            predict(scenario)
        except (ForetrainError, InexpressibleError):
            continue
        reading.append(read - begun)
        predicting.append(process_time() - read)
    alone, whole = median(predicting), median(map(sum, zip(reading, predicting, strict=True)))
    said = f"{1e3 * alone:.2f} ms a row in the median, {1e3 * whole:.2f} ms with reading its scenario"
    sys.stdout.write(f"\n{len(predicting):,} rows: {said}\n")
    assert len(predicting) > 1000
    assert alone < whole / 2
