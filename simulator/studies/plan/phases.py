"""A budget of several phases: pre-training, long context, annealing, fine-tuning, RL, evaluation, failed experiments.

A phase has tokens, or a share of all phases that have some, or GPU-hours. Of a phase of reinforcement learning, a share
of the time is spent on generation, so that it takes 1 / (1 - share) of its training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from simulator.errors import ScenarioError
from simulator.scenario import yaml_text
from simulator.scenario.reading import Reading
from simulator.studies.plan.phase import Phase
from simulator.studies.plan.run import DAY, HOUR, Run
from simulator.sums import added
from simulator.units import Count, Dollars, Number, Share


@dataclass(frozen=True, kw_only=True)
class Phases:
    phases: tuple[Phase, ...]
    parameters: Count | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """A phase, or the total, as it is told."""

    name: str
    tokens: Number | None
    gpu_hours: Number
    days: Number | None
    dollars: Dollars | None
    share: Share


class Machine(Protocol):
    """What runs a phase."""

    @property
    def busy(self) -> int | None:
        """GPUs that are paid for."""

    @property
    def dollars_per_hour(self) -> Number | None:
        """Price of a GPU-hour."""

    def phase(self, phase: Phase, parameters: Number | None) -> Run: ...


def read(text: str, source: str) -> Phases:
    """Return the phases in a YAML file; ScenarioError names every mistake with its place."""
    reading = Reading()
    document = yaml_text.read(text, source, reading.mistakes)
    reading.mistakes.document = document
    found = None if document is None else reading.build(Phases, document, ())
    if isinstance(found, Phases):
        for number, phase in enumerate(found.phases):
            given = [name for name in ("tokens", "share", "gpu_hours") if getattr(phase, name) is not None]
            if len(given) != 1:
                reading.mistakes.add(("phases", number), "give one of tokens, share and gpu_hours")
            if phase.generation == 1:
                reading.mistakes.add(("phases", number, "generation"), "leaves no time for training")
    reading.mistakes.stop()
    assert isinstance(found, Phases)
    return found


def lines(phases: Phases, machine: Machine) -> tuple[Line, ...]:
    """Return each phase and the total behind them."""
    hours = [_hours(phase, phases.parameters, machine) for phase in phases.phases]
    base = added(hour for hour, phase in zip(hours, phases.phases, strict=True) if phase.tokens is not None)
    if not base and any(phase.share is not None for phase in phases.phases):
        raise ScenarioError("a share is of the phases with tokens, and there is none")
    for place, phase in enumerate(phases.phases):
        if phase.share is not None:
            hours[place] = phase.share * base * phase.times
    total = added(hours)
    named = [
        _line(phase.name, phase.tokens and phase.tokens * phase.epochs * phase.times, hour, total, machine)
        for phase, hour in zip(phases.phases, hours, strict=True)
    ]
    return (*named, _line("total", _all_tokens(named), total, total, machine))


def _hours(phase: Phase, parameters: Number | None, machine: Machine) -> Number:
    if phase.gpu_hours is not None:
        return phase.gpu_hours * phase.times
    if phase.tokens is None:
        return 0.0
    run = machine.phase(phase, phase.parameters or parameters)
    return run.gpu_hours * phase.times / (1 - phase.generation)


def _line(name: str, tokens: Number | None, hours: Number, total: Number, machine: Machine) -> Line:
    gpus, price = machine.busy, machine.dollars_per_hour
    return Line(
        name=name,
        tokens=tokens,
        gpu_hours=hours,
        days=None if gpus is None else hours / gpus * HOUR / DAY,
        dollars=None if price is None else hours * price,
        share=hours / total if total else 0.0,
    )


def _all_tokens(named: Sequence[Line]) -> Number:
    return added(line.tokens or 0 for line in named)
