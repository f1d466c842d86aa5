"""The page on validation holds the figures, the reasons and every rule."""

from __future__ import annotations

import re
from dataclasses import replace

from simulator.validation import page, rules, summary
from simulator.validation.lines import Line

ONE = Line(
    suite="runs",
    id="a",
    family="F",
    quantity="step_time_s",
    unit="s",
    measured=10.0,
    predicted=11.0,
    low=9.0,
    high=12.0,
)


def test_the_page_shows_families_reasons_and_rules() -> None:
    rows = [
        *(replace(ONE, id=str(index), group="g", ideal=4.0, generation="ampere") for index in range(8)),
        replace(ONE, id="b", predicted=None, note="no | dimensions"),
        replace(ONE, id="c", quantity="oom", unit="1", measured=1.0, predicted=0.9),
    ]
    text = page.write(summary.summary(rows), [("Elsewhere, 1 May 2026", summary.summary(rows[:1]))])
    assert "| F | 8 | 10.0% | 10.0% | 10.0% | +10.0% |" in text
    assert "| 1 | no \\| dimensions |" in text
    assert "## Elsewhere, 1 May 2026" in text
    assert all(f"| `{name}` |" in text for name in rules.stated())


def test_every_table_of_the_page_has_cells_for_all_its_columns() -> None:
    rows = [replace(ONE, id=str(index), suite="gemm", group="m < 1024") for index in range(9)]
    text = page.write(summary.summary(rows))
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
