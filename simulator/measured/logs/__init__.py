"""Logs of training runs: a format is a module here that finds its lines, and a log has the format that finds most.

A module has `SAYS`, what the format is called, and `read(lines)`, which returns what it `Found` in the order of the
log. A step that every rank prints is one step.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from statistics import median
from types import ModuleType
from typing import Any

from simulator.errors import ScenarioError
from simulator.measured.iteration import Found, Iteration, Log
from simulator.units import Seconds

AGAIN: Seconds = 60.0
"""A line with the same step that is so much later is of a job that was started again; ranks print within seconds."""
LONGEST = 4000
"""Letters of a line; the rest of a longer one is not looked at."""


@cache
def formats() -> tuple[ModuleType, ...]:
    """Return the modules of all formats, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return tuple(module for module in modules if hasattr(module, "SAYS"))


def read(text: str, name: str) -> Log:
    """Return the steps of a log, in its order; ScenarioError where no format finds one."""
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    if len(lines) > 3 and not text.endswith(("\n", "\r")):
        del lines[-1]  # the job, or the copy of its log, ended within it
    best: tuple[Found, ModuleType] | None = None
    for module in formats():
        found: Found = module.read(lines)
        if found.iterations and (best is None or len(found.iterations) > len(best[0].iterations)):
            best = found, module
    if best is None:
        known = ", ".join(str(module.SAYS) for module in formats())
        raise ScenarioError(f"{name}: no step times found in {len(lines):,} lines; known are logs of {known}")
    found, module = best
    rest = len(lines) - found.used - sum(found.skipped.values())
    skipped = found.skipped | ({"lines without a step": rest} if rest > 0 else {})
    return Log(name, str(module.SAYS), tuple(_once(found.iterations)), len(lines), skipped)


def _once(iterations: Sequence[Iteration]) -> list[Iteration]:
    """Return every step once, where the ranks of a job print a copy each one after the other."""
    found: list[list[Iteration]] = []
    for one in iterations:
        if found and _is_copy(found[-1][-1], one):
            found[-1].append(one)
        else:
            found.append([one])
    return [_middle(copies) for copies in found]


def _is_copy(before: Iteration, one: Iteration) -> bool:
    """Return whether another rank printed the same step; one that was printed much later was done again."""
    if one.number is None or one.number != before.number:
        return False
    return before.clock is None or one.clock is None or abs(one.clock - before.clock) < AGAIN


def _middle(copies: list[Iteration]) -> Iteration:
    if len(copies) == 1:
        return copies[0]
    middle: dict[str, Any] = {}
    for name in ("seconds", "tokens_per_gpu", "tokens_per_s", "samples_per_s", "flops", "mfu"):
        said = [value for one in copies if (value := getattr(one, name)) is not None]
        middle[name] = median(said) if said else None
    memory = [one.memory for one in copies if one.memory is not None]
    return copies[0]._replace(**middle, memory=max(memory, default=None))
