"""Reads a log of failures in whatever format its columns say it is."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from simulator.errors import ScenarioError
from simulator.kinds import kinds
from simulator.reliability.logs.base import FailureLog, Logged

MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Log:
    format: type[FailureLog]
    rows: tuple[Logged, ...]


def read(text: str, name: str) -> Log:
    """Return what a log says, in the order of its lines; ScenarioError names the line that is wrong."""
    try:
        return _read(text, name)
    except csv.Error as error:
        raise ScenarioError(f"{name}: {error}") from None


def _read(text: str, name: str) -> Log:
    head = text.partition("\n")[0]
    reader = csv.DictReader(StringIO(text), delimiter="|" if "|" in head else ",")
    columns = {_plain(column): column for column in reader.fieldnames or () if column}
    form = _format(frozenset(columns), name)
    return Log(form, tuple(_rows(reader, columns, form, name)))


def _format(columns: frozenset[str], name: str) -> type[FailureLog]:
    known = kinds("simulator.reliability.logs", FailureLog)
    for kind in sorted(known, key=lambda kind: kind == "neutral"):
        if known[kind].knows(columns):
            return known[kind]
    others = "; ".join(form.says for kind, form in known.items() if kind != "neutral")
    raise ScenarioError(f"{name}:1: a log of failures has {known['neutral'].says}; known besides: {others}")


def _rows(reader: csv.DictReader[str], columns: dict[str, str], form: type[FailureLog], name: str) -> Iterator[Logged]:
    for count, row in enumerate(reader):
        if count >= MOST_ROWS:
            raise ScenarioError(f"{name}: more than {MOST_ROWS:,} rows")
        cells = {plain: (row.get(column) or "").strip() for plain, column in columns.items()}
        if any(cells.values()):
            yield from form.rows(f"{name}:{reader.line_num}", cells)


def _plain(column: str) -> str:
    """Return a column's name without case, and without what it says about its format in brackets.

    >>> _plain("Prob Started (mm/dd/yy hh:mm)")
    'prob started'
    """
    return " ".join(column.partition("(")[0].lower().split())
