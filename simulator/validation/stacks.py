"""Which software stack a row ran on: the entry that claims its framework and year, changed as the row states."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from simulator import catalog
from simulator.validation import phrases, rules
from simulator.validation.row import Row

GENERIC = "generic"
OTHER = "other"
"""What the column `stack` of a table says where none of the catalog's frameworks is meant."""
NEWEST = 2100
"""The year of a row that states none: the newest entry of its framework."""
META = "meta"
UNFUSED = "unfused"
EAGER = "-eager"
"""Ending of an entry that runs layers eagerly where the one without it compiles them."""
MEGATRON_CORE = ("megatron", "megatron-bridge", "nemo")
"""Frameworks that are Megatron-Core or built on it, and interleave their pipelines."""
PATTERN = re.compile(r"(?P<framework>.+):(?P<first>\d{4})-(?P<last>\d{4})")


class Choice(NamedTuple):
    stack: dict[str, Any]
    name: str
    framework: str
    year: int
    notes: tuple[str, ...]

    @property
    def interleaves(self) -> bool:
        """Return whether pipelines are interleaved unless told otherwise."""
        return self.framework in MEGATRON_CORE and self.year >= 2023

    @property
    def small_chunks(self) -> bool:
        """Return whether an interleaved chunk is one layer unless told otherwise."""
        return self.interleaves or self.framework == META


class Claim(NamedTuple):
    framework: str
    first: int
    last: int
    name: str

    def distance(self, year: int) -> int:
        """Return how many years lie between `year` and the years claimed."""
        return max(self.first - year, year - self.last, 0)


def stack(row: Row) -> Choice:
    """Return the stack section of the row."""
    framework, year = _framework(row), row.whole("year") or NEWEST
    entry, notes = nearest(framework, year)
    text = "; ".join((row.text("precision"), row.text("overlap"), row.text("notes")))
    name, layers = _layers(entry, phrases.compiled(text), row.text("precision_name"))
    stated = phrases.said("stack", text, row.text("kernel"))
    return Choice({"base": name, **layers, **_attention(row, name), **stated}, name, framework, year, notes)


def _framework(row: Row) -> str:
    """Return the framework of the column `stack`, or what the row's own words name where that says less.

    ``other`` says nothing; ``megatron-deepspeed`` says less than ``megatron-deepspeed-gaudi``.
    """
    said, words = row.text("stack"), f"{row.text('framework')}; {row.text('notes')}"
    for name in catalog.names("stack"):
        entry = catalog.entry("stack", name)
        framework = str(entry["framework"])
        if said not in ("", OTHER) and not framework.startswith(said):
            continue
        if any(re.search(pattern, words, re.IGNORECASE) for pattern in entry.get("named", ())):
            return framework
    return said


def nearest(framework: str, year: int, known: Callable[[str], bool] = lambda name: True) -> tuple[str, tuple[str, ...]]:
    """Return the entry that claims the framework in that year, in the nearest year, or the generic one; and say so.

    Only entries that are `known` are taken.
    """
    of_framework = [claim for claim in claims() if claim.framework == framework and known(claim.name)]
    if not of_framework:
        return GENERIC, (f"stack {GENERIC}: no entry for {framework or 'an unnamed framework'}",)
    best = min(of_framework, key=lambda claim: (claim.distance(year), claim.last - claim.first, claim.name))
    return best.name, (f"stack {best.name}: nearest to {framework} {year}",) if best.distance(year) else ()


@cache
def claims() -> tuple[Claim, ...]:
    """Return what the entries of the catalog claim, as written in their `matches`."""
    return tuple(
        Claim(match["framework"], int(match["first"]), int(match["last"]), name)
        for name in catalog.names("stack")
        for pattern in catalog.entry("stack", name).get("matches", ())
        if (match := PATTERN.fullmatch(pattern))
    )


@cache
def _entries() -> frozenset[str]:
    return frozenset(catalog.names("stack"))


@cache
def fact(name: str, key: str, default: str) -> str:
    """Return what the entry `name`, or the entry it is based on, says about `key`."""
    entry = catalog.entry("stack", name)
    if key in entry:
        return str(entry[key])
    return fact(entry["base"], key, default) if "base" in entry else default


def _layers(name: str, compiled: bool | None, precision: str) -> tuple[str, dict[str, Any]]:
    """Return the entry with layers compiled or eager as the row says, and what differs from it."""
    eager = f"{name}{EAGER}"
    if eager in _entries():
        return (name if (rules.compiled(precision) if compiled is None else compiled) else eager), {}
    if compiled is None:
        return name, {}
    return name, phrases.COMPILED if compiled else phrases.EAGER


def _attention(row: Row, name: str) -> dict[str, str]:
    """Return the kernel where the row contradicts the stack; a generation follows from stack and GPU."""
    flash, usual = row.text("flash_attention"), fact(name, "attention", "newest")
    if not flash or (flash != "0") == (usual != UNFUSED):
        return {}
    return {"attention": UNFUSED if flash == "0" else "newest"}
