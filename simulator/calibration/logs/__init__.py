"""Logs of training runs -> the time of a step; a format is a module here that finds its lines.

A module has `SAYS`, what it is called, and `samples(text)`, the measured steps it finds in the order of the log.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from functools import cache
from statistics import median
from types import ModuleType

from simulator.calibration.logs.sample import Sample
from simulator.errors import ScenarioError
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds

WARM_UP = 0.1
"""Share of the first steps that is left out: compilation, first allocations, caches."""


@cache
def formats() -> tuple[ModuleType, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return tuple(module for module in modules if hasattr(module, "samples"))


def step_time(text: str, name: str, scenario: Scenario) -> tuple[Seconds, str]:
    """Return the median step of a log after its first steps, and which format it has."""
    for module in formats():
        found: tuple[Sample, ...] = module.samples(text)
        if found:
            kept = found[math.ceil(WARM_UP * len(found)) :] or found
            return median(_seconds(one, scenario) for one in kept), str(module.SAYS)
    known = ", ".join(str(module.SAYS) for module in formats())
    raise ScenarioError(f"{name}: no step times found; known are logs of {known}")


def _seconds(sample: Sample, scenario: Scenario) -> Seconds:
    if sample.seconds is not None:
        return sample.seconds
    assert sample.tokens_per_gpu is not None
    training = scenario.training
    return training.global_batch * training.sequence_length / (sample.tokens_per_gpu * scenario.gpus)
