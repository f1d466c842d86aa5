"""The scenario of a published row is what was run; what came of it must not be read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from published_row import shipped

from simulator.validation.expression import Expression, InexpressibleError
from simulator.validation.row import Row
from simulator.validation.rows import expression

MEASURED = ("step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "mfu", "hfu", "mem_gb", "oom")
OUTCOMES = (
    "OOM from allocator fragmentation (peak allocated only 58.8GB)",
    "out of memory",
    "does not fit; crashed after 3 steps",
    "memory-bound; slow: communication not hidden, pipeline bubble large",
    "fits, fastest of the sweep, 52% MFU",
)


def asked(row: Row) -> Expression | str:
    try:
        return expression(row)
    except InexpressibleError as error:
        return str(error)


def without_measurements(row: Row) -> Row:
    texts = {name: text for name, text in row.texts.items() if name not in MEASURED}
    return replace(row, texts=texts, numbers={k: v for k, v in row.numbers.items() if k not in MEASURED})


def test_no_scenario_depends_on_what_was_measured() -> None:
    """Every shipped row states its batch, the only thing that two measured columns together could give."""
    for row in shipped().values():
        assert asked(without_measurements(row)) == asked(row), row.text("id")


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_no_scenario_depends_on_words_for_what_happened(outcome: str) -> None:
    for row in shipped().values():
        told = replace(row, texts={**row.texts, "notes": f"{row.text('notes')}; {outcome}"})
        assert asked(told) == asked(row), row.text("id")
