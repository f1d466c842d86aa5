"""CSV with a header, as Weights & Biases and MLflow export a run: one row a step."""

from __future__ import annotations

from simulator.convert import plain_csv
from simulator.measured.iteration import Found
from simulator.measured.logs.named_values import iteration

SAYS = "CSV with a column such as step_time"


def read(lines: list[str]) -> Found:
    if not lines or "," not in lines[0] or lines[0].lstrip().startswith(("{", "[")):
        return Found([], 0, {})
    try:
        _, rows = plain_csv.table("\n".join(lines))
    except ValueError:
        return Found([], 0, {})
    found = [
        step for row in rows if (step := iteration({name: value for name, value in row.items() if name})) is not None
    ]
    empty = len(rows) - len(found)
    return Found(found, len(found) + 1, {"rows without a time": empty} if empty and found else {})
