"""What an uncertain input is worth: each one low and high, all others as they are.

The ranges are how far such inputs usually are from what one believes: a tenth for the rate of kernels, half and double
for what a network or a storage gives under load, for failure rates and restarts, a fifth for prices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from simulator.errors import ForetrainError
from simulator.scenario import Scenario
from simulator.studies import columns
from simulator.studies.point import Base, short, told
from simulator.studies.store import FILES, Row, key
from simulator.units import Number


def kernel_efficiency(scenario: Scenario, times: Number) -> Scenario:
    """Faster matrix products; a measured step as a whole."""
    if scenario.training.step_time is not None:
        step_time = scenario.training.step_time / times
        return replace(scenario, training=replace(scenario.training, step_time=step_time))
    return replace(scenario, stack=replace(scenario.stack, gemm_factor=scenario.stack.gemm_factor * times))


def network(scenario: Scenario, times: Number) -> Scenario:
    """More bandwidth of every link between hosts."""
    cluster = scenario.cluster
    topology, host = cluster.topology, cluster.host
    if topology.link_bandwidth is not None:
        topology = replace(topology, link_bandwidth=topology.link_bandwidth * times)
    host = replace(host, nic_bandwidth=host.nic_bandwidth * times)
    return replace(scenario, cluster=replace(cluster, topology=topology, host=host))


def failure_rate(scenario: Scenario, times: Number) -> Scenario:
    return replace(scenario, failures=replace(scenario.failures, scale=scenario.failures.scale * times))


def restart_time(scenario: Scenario, times: Number) -> Scenario:
    """Longer restarts, with all their phases."""
    return replace(scenario, recovery=scenario.recovery.with_restarts(times))


def storage(scenario: Scenario, times: Number) -> Scenario:
    """Faster writes and reads of checkpoints, where their times follow from the storage."""
    found = scenario.cluster.storage
    faster = replace(found, write=found.write * times, read=found.read * times)
    return replace(scenario, cluster=replace(scenario.cluster, storage=faster))


def price(scenario: Scenario, times: Number) -> Scenario:
    return replace(scenario, prices=replace(scenario.prices, gpu_hour=scenario.prices.gpu_hour * times))


class Input(NamedTuple):
    change: Callable[[Scenario, Number], Scenario]
    low: Number
    high: Number


INPUTS: dict[str, Input] = {
    "kernel efficiency": Input(kernel_efficiency, 0.9, 1.1),
    "network bandwidth": Input(network, 0.5, 2.0),
    "failure rate": Input(failure_rate, 0.5, 2.0),
    "restart time": Input(restart_time, 0.5, 2.0),
    "storage bandwidth": Input(storage, 0.5, 2.0),
    "price of a GPU-hour": Input(price, 0.8, 1.2),
}


@dataclass(frozen=True)
class Bend:
    """A scenario with one input bent, or none."""

    base: Base
    name: str = ""
    times: Number = 1.0
    quick: bool = False

    @cached_property
    def key(self) -> str:
        return key("tornado", self.base.content, self.name, self.times, self.quick)


def bends(base: Base, *, quick: bool = False) -> list[Bend]:
    """Return the scenario as it is, and with each input low and high."""
    every = [Bend(base, name, times, quick) for name, one in INPUTS.items() for times in (one.low, one.high)]
    return [Bend(base, quick=quick), *every]


def evaluate(bend: Bend) -> Row:
    """Return the row of a scenario with one input bent."""
    files: dict[str, str] = {}
    try:
        scenario = bend.base.read(files=files)
        changed = INPUTS[bend.name].change(scenario, bend.times) if bend.name else scenario
        row = told(changed, quick=bend.quick)
    except ForetrainError as error:
        if not bend.name:
            raise
        row = columns.infeasible(short(error))
    return {"scenario": bend.base.name, "input": bend.name, "times": bend.times, **row, FILES: files}


class Swing(NamedTuple):
    """What a figure becomes with an input low and high; None where it cannot be run."""

    name: str
    low: Number | None
    high: Number | None

    @property
    def width(self) -> Number:
        return abs((self.high or 0.0) - (self.low or 0.0)) if self.low is not None and self.high is not None else 0.0


def swings(rows: Sequence[dict[str, Any]], metric: str) -> list[Swing]:
    """Return the swing of each input that moves the figure, the widest first."""
    found = {(row["input"], row["times"]): row.get(metric) for row in rows}
    every = [Swing(name, found.get((name, one.low)), found.get((name, one.high))) for name, one in INPUTS.items()]
    moved = [one for one in every if one.width > 0]
    return sorted(moved, key=lambda one: -one.width)
