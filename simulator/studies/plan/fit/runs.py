"""Training runs to fit a law to: parameters, tokens and loss of each, read from CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.convert import plain_csv
from simulator.errors import ScenarioError
from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER

NAMES = {
    "parameters": ("params", "parameters", "n", "model_size", "non_embedding", "n_params"),
    "tokens": ("tokens", "d", "training_tokens", "n_tokens"),
    "loss": ("loss", "final_loss", "validation_loss", "val_loss", "l"),
    "flops": ("flops", "c", "training_flop", "training_flops", "compute"),
}
MOST_ROWS = 10_000
SMALLEST, LARGEST = 1e-3, 1e30
FEWEST_ROWS = 6
"""A law of five constants needs at least one more."""


@dataclass(frozen=True)
class TrainingRuns:
    """Columns of equal length; `flops` is 6 N D where the table does not give it."""

    parameters: np.ndarray
    tokens: np.ndarray
    losses: np.ndarray
    flops: np.ndarray

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def curves(self) -> dict[float, tuple[np.ndarray, np.ndarray]]:
        """Return FLOPs and loss of each size, in the order of FLOPs; of runs of the same FLOPs the best."""
        found = {}
        for size in np.unique(self.parameters):
            mine = self.parameters == size
            order = np.lexsort((self.losses[mine], self.flops[mine]))
            flops, losses = self.flops[mine][order], self.losses[mine][order]
            _, first = np.unique(flops, return_index=True)
            found[float(size)] = flops[first], losses[first]
        return found


def runs(rows: Sequence[tuple[float, float, float]]) -> TrainingRuns:
    """Return runs given as (parameters, tokens, loss)."""
    parameters, tokens, losses = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return TrainingRuns(parameters, tokens, losses, FLOPS_PER_PARAMETER * parameters * tokens)


def parse(text: str, name: str) -> TrainingRuns:
    """Return the runs in a CSV whose head names params, tokens and loss; ScenarioError names the line that is wrong."""
    try:
        header, found = plain_csv.table(text)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}") from None
    columns = _columns(header, name)
    rows: list[list[float]] = []
    for line, row in enumerate(found, start=2):
        if len(rows) >= MOST_ROWS:
            raise ScenarioError(f"{name}: more than {MOST_ROWS:,} rows")
        rows.append([_number(row, column, f"{name}:{line}") for column in columns.values()])
    if len(rows) < FEWEST_ROWS:
        raise ScenarioError(f"{name}: {len(rows)} runs; a law of five constants needs at least {FEWEST_ROWS}")
    table = dict(zip(columns, np.array(rows, dtype=float).T, strict=True))
    product = FLOPS_PER_PARAMETER * table["parameters"] * table["tokens"]
    return TrainingRuns(table["parameters"], table["tokens"], table["loss"], table.get("flops", product))


def _columns(head: Sequence[str], name: str) -> dict[str, str]:
    """Return the column of each quantity."""
    spelled = {column.strip().lower().replace(" ", "_"): column for column in head if column}
    found = {}
    for quantity, spellings in NAMES.items():
        column = next((spelled[spelling] for spelling in spellings if spelling in spelled), None)
        if column is not None:
            found[quantity] = column
        elif quantity != "flops":
            raise ScenarioError(f"{name}:1: no column {spellings[0]!r}; a table of runs has params, tokens and loss")
    return found


def _number(row: Mapping[str, str | None], column: str, place: str) -> float:
    text = (row.get(column) or "").strip()
    try:
        value = float(text)
    except ValueError:
        raise ScenarioError(f"{place}: {column}: expected a number, found {text[:40]!r}") from None
    if not math.isfinite(value) or value <= 0:
        raise ScenarioError(f"{place}: {column}: expected a number above zero, found {text[:40]!r}")
    if not SMALLEST <= value <= LARGEST:
        raise ScenarioError(f"{place}: {column}: {value:g} is out of bounds for a training run")
    return value
