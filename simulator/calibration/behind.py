"""What each constant was read from: pieces of work behind those of runs, accelerators behind those of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import log
from typing import NamedTuple

from simulator import catalog
from simulator.engine.prices.constants import Constant, constants
from simulator.machine import hardware
from simulator.outcome.familiar import SIXTEEN_BITS
from simulator.outcome.ledger import Cell, Family, Ledger
from simulator.validation import stacks

EXPERTS = "experts"
OF_EXPERTS = ("grouped", "exchange")
"""Groups of constants that only runs with experts teach."""


class Entry(NamedTuple):
    """One number, or a table of them, of the catalog."""

    where: str
    name: str
    kind: str
    """What it was read from: a kernel table, runs (shared constants), or runs and code (a stack entry)."""
    behind: frozenset[str]
    """Accelerators of a kernel table, pieces of work of the others."""
    kept: frozenset[str]
    """Pieces of work among them whose rows do not ship: their numbers are kept by hand."""


def entries(ledger: Ledger) -> Iterator[Entry]:
    """Yield everything in the catalog that was read from a measurement that can be left out."""
    kept = frozenset(family.work for family in ledger.families if not family.ships)
    for constant in constants():
        behind = works(constant, ledger)
        yield Entry("shared.yaml", constant.name, "runs", behind, behind & kept)
    for name in catalog.names("stack"):
        behind = ledger.behind(stack=name)
        yield Entry("stack", name, "runs and code", behind, behind & kept)
    for name, measured in kernels().items():
        yield Entry("gemm.yaml, attention.yaml, memory-bound.yaml", name, "kernel table", measured, frozenset())


def works(constant: Constant, ledger: Ledger) -> frozenset[str]:
    """Return the pieces of work whose runs teach a constant that runs share."""
    return frozenset(family.work for family in ledger.families if _teaches(family, constant))


def _teaches(family: Family, constant: Constant) -> bool:
    if constant.group in OF_EXPERTS and EXPERTS not in family.features:
        return False
    first, _, dtype = constant.key.partition(" ")
    if constant.group == "software":
        return any(_runs_on(cell, name) for cell in family.cells for name in constant.key.split(", "))
    if dtype and f"{dtype} products" not in family.features and dtype not in SIXTEEN_BITS:
        return False
    return any(first in (cell.architecture, _attention(cell.stack), "all", "expert") for cell in family.cells)


def _runs_on(cell: Cell, name: str) -> bool:
    """Return whether a framework, or a framework and its year, is that of a cell."""
    framework, _, year = name.partition(" ")
    return cell.framework == framework and year in ("", stacks.fact(cell.stack, "year", ""))


def _attention(stack: str) -> str:
    return stacks.fact(stack, "attention", "newest")


@cache
def kernels() -> dict[str, frozenset[str]]:
    """Return the accelerators that the kernel tables of each architecture were measured on."""
    return {name: frozenset(found) for name, found in catalog.entry("calibration", "behind")["kernels"].items()}


def sibling(name: str) -> str | None:
    """Return the measured accelerator of the same architecture that is most like this one; None where there is none.

    The one with constants in the same number formats, then the one whose data sheet is nearest.
    """
    gpu = hardware.gpu(name)
    others = kernels().get(gpu.architecture, frozenset()) - {name}
    own = _formats(name)
    return min(
        others, key=lambda other: (len(own - _formats(other)), _apart(gpu, hardware.gpu(other)), other), default=None
    )


def _formats(name: str) -> frozenset[str]:
    """Return the number formats in which a GPU has constants of its own."""
    return frozenset(catalog.entry("calibration", "gemm")["gpus"].get(name, {}).get("formats", {}))


def _apart(one: hardware.Gpu, other: hardware.Gpu) -> float:
    """Return how far two data sheets are apart: ln of bandwidth and of the peaks that both have."""
    peaks = sum(abs(log(one.peak[dtype] / other.peak[dtype])) for dtype in one.peak.keys() & other.peak.keys())
    return abs(log(one.memory_bandwidth / other.memory_bandwidth)) + peaks
