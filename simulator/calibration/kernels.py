"""What kernel constants are learned from: tables of measured kernels, read here and written as catalog text.

A table names its GPUs as the catalog does, or by an alias. The fits are robust (mean absolute log error), start from
the default constants in the catalog and are held to them by a weak prior, so that a table of three shapes moves little.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

R = TypeVar("R")
SEARCHED = "best of a search"
"""Note of rows that show the best shape anyone found, not a given one."""
WIDTH = 118
MARKS = frozenset(",:;{}[]#")
"""What text cannot hold inside of braces without quotes."""
SCATTER = 0.08
"""Typical log error of one kernel, which nothing can fit away."""
TOLERANCE = 0.05
"""Log error up to which many rows count by their square, and beyond which by their size."""
PULL = 0.05
"""Weight of the prior of a constant per root of the number of rows."""
PULLED_FROM = 60
"""Rows from which on that applies; fewer rows count one by one against the prior."""


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a measured table without the best-of-a-search ones."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if SEARCHED not in row.get("note", "")]


def fit(
    seconds: Callable[[np.ndarray], np.ndarray], measured: np.ndarray, start: Sequence[float], spread: float
) -> np.ndarray:
    """Return the positive constants whose predicted `seconds` are closest to `measured` in the mean.

    Each constant is held to where it starts by a normal prior on its logarithm with the deviation `spread`, against
    errors with the scale ``SCATTER``: a handful of rows moves it little.
    """
    from scipy.optimize import minimize

    origin = np.log(np.asarray(start))

    def loss(logs: np.ndarray) -> float:
        error = np.abs(np.log(seconds(np.exp(logs)) / measured)).sum()
        return float(error + SCATTER / 2 * (((logs - origin) / spread) ** 2).sum()) / len(measured)

    found = minimize(loss, origin, method="Powell", options={"maxiter": 4, "xtol": 1e-3, "ftol": 1e-4})
    constants: np.ndarray = np.exp(found.x)
    return constants


def least_squares(
    seconds: Callable[[np.ndarray], np.ndarray], measured: np.ndarray, start: Sequence[float], spreads: Sequence[float]
) -> np.ndarray:
    """Return the positive constants that predict many rows best, by a loss that forgives outliers.

    Like `fit`, for hundreds of rows. Each constant is held to where it starts with a deviation of its own, the more the
    more rows there are, because the errors of many rows are those of the model and do not average out.
    """
    from scipy.optimize import least_squares as solve

    origin, deviation = np.log(np.asarray(start)), np.asarray(spreads)
    weight = PULL * np.sqrt(len(measured)) if len(measured) >= PULLED_FROM else 1.0

    def residuals(logs: np.ndarray) -> np.ndarray:
        error = np.log(seconds(np.exp(logs)) / measured) / TOLERANCE
        robust = np.sqrt(2 * (np.sqrt(1 + error**2) - 1))
        return np.concatenate([robust, weight * (logs - origin) / deviation])

    found = solve(residuals, origin, max_nfev=15, diff_step=1e-3)
    constants: np.ndarray = np.exp(found.x)
    return constants


def folds(rows: Sequence[R], group: Callable[[R], object], count: int = 4) -> Iterable[tuple[list[R], list[R]]]:
    """Yield rows to fit and rows left out, `count` times; rows of one group are left out together."""
    groups = sorted({str(group(row)) for row in rows})
    number = {name: place % count for place, name in enumerate(groups)}
    for fold in range(count):
        left_out = [row for row in rows if number[str(group(row))] == fold]
        if left_out:
            yield [row for row in rows if number[str(group(row))] != fold], left_out


def text(entry: Mapping[str, Any], header: str) -> str:
    """Return a catalog entry as YAML, under a header that says where it comes from."""
    return "".join(f"# {line}\n" for line in header.splitlines()) + "\n".join(_lines(entry, "")) + "\n"


def _lines(entry: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in entry.items():
        flow = _flow(value)
        if len(indent) + len(key) + len(flow) + 2 <= WIDTH and not (isinstance(value, Mapping) and _prose(value)):
            yield f"{indent}{key}: {flow}"
        elif (
            isinstance(value, Mapping)
            and not any(isinstance(part, Mapping) for part in value.values())
            and not _prose(value)
        ):
            pairs = wrap(flow, WIDTH - len(indent) - len(key) - 2, break_long_words=False, break_on_hyphens=False)
            yield f"{indent}{key}: {pairs[0]}"
            yield from (f"{indent}  {line}" for line in pairs[1:])
        elif isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: >-"
            yield from (f"{indent}  {line}" for line in wrap(value, WIDTH - len(indent) - 2, break_on_hyphens=False))


def _prose(value: Mapping[str, Any]) -> bool:
    """Return whether a part is text that would end in the middle inside of braces."""
    parts = value.values()
    return any(_prose(part) if isinstance(part, Mapping) else not MARKS.isdisjoint(str(part)) for part in parts)


def _flow(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return "{" + ", ".join(f"{key}: {_flow(part)}" for key, part in value.items()) + "}"


def rounded(value: float, digits: int = 3) -> str:
    """Return `value` with a few digits that count, as text."""
    return f"{value:.{digits}g}"
