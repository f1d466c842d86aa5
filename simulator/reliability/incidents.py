"""When failures strike a fleet: one stream in order of time, drawn from every cause.

Times are on the exposure's clock. Causes without memory are superposed into one Poisson stream whose events
are then given to a cause in proportion to its rate, which is exact; every other cause renews its units one by
one. Gaps and causes are drawn from streams of their own, and times scale with the rate, so that two policies
under one seed meet the same failures.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from simulator.errors import ScenarioError
from simulator.reliability.failures.base import Cause
from simulator.reliability.failures.calendar import Calendar
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.renewal import Renewal
from simulator.reliability.fleet import Failures
from simulator.reliability.incident import Incident

Stream = Callable[..., np.random.Generator]
"""Names of a purpose -> its random stream."""
BURN_IN = Exponential(name="burn-in defect", unit="host", mtbf=float("inf"))


def all_causes(failures: Failures) -> tuple[Cause, ...]:
    """Return the causes that incidents are numbered by."""
    return (*failures.causes, BURN_IN)


def incidents(failures: Failures, units: Mapping[str, int], stream: Stream, *, of_job: bool) -> Iterator[Incident]:
    """Yield the failures of the job itself, or those of all other units, in order of time."""
    sources: list[Iterator[Incident]] = []
    memoryless: list[tuple[int, float]] = []
    for number, cause in enumerate(failures.causes):
        if (cause.unit == "job") != of_job:
            continue
        factor = failures.factor(cause.unit, units["gpu"])
        if cause.on_host:
            factor *= 1 - failures.repeat
        if factor <= 0:
            continue
        if isinstance(cause, Calendar):
            sources.append(_calendar(cause, number, factor))
            continue
        if not isinstance(cause, Renewal):
            raise ScenarioError(f"failures: a cause of kind {cause.kind} cannot be simulated")
        if cause.unit not in units:
            raise ScenarioError(f"failures: cause {cause.label!r}: the number of units {cause.unit} is not known")
        rate = cause.rate(units[cause.unit]) * factor
        if rate <= 0:
            continue
        if isinstance(cause, Exponential):
            memoryless.append((number, rate))
        else:
            sources.append(_renewals(cause, number, units[cause.unit], factor, stream("renewal", number)))
    if memoryless:
        sources.append(_poisson(memoryless, stream("gaps", of_job), stream("causes", of_job)))
    if failures.burn_in and not of_job:
        sources.append(_burn_in(failures, units, stream("burn-in")))
    return sources[0] if len(sources) == 1 else heapq.merge(*sources)


def _poisson(
    rates: list[tuple[int, float]], gaps: np.random.Generator, marks: np.random.Generator
) -> Iterator[Incident]:
    numbers = np.array([number for number, _ in rates])
    edges = np.cumsum([rate for _, rate in rates])
    time, size = 0.0, 128
    while True:
        times = time + np.cumsum(gaps.standard_exponential(size) / edges[-1])
        chosen = numbers[np.searchsorted(edges, marks.random(size) * edges[-1], side="right")]
        yield from map(Incident, times.tolist(), chosen.tolist())
        time, size = float(times[-1]), min(2 * size, 4096)


def _renewals(
    cause: Renewal, number: int, units: int, factor: float, random: np.random.Generator
) -> Iterator[Incident]:
    """Renew each unit after its failure; look ahead over a window that holds some hundred failures.

    A window begins with the next failure, however far it is: skewed lives leave ages without any.
    """
    times = cause.first(random, units) / factor
    window = 256 * cause.mtbf / (units * factor)
    end = 0.0
    while True:
        end = max(end, float(times.min())) + window
        due = np.flatnonzero(times <= end)
        queue = list(zip(times[due].tolist(), due.tolist(), strict=True))
        heapq.heapify(queue)
        while queue:
            time, unit = queue[0]
            yield Incident(time, number)
            again = time + float(cause.lives(random, 1)[0]) / factor
            if again < end:
                heapq.heapreplace(queue, (again, unit))
            else:
                heapq.heappop(queue)
                times[unit] = again


def _calendar(cause: Calendar, number: int, factor: float) -> Iterator[Incident]:
    for event in cause.events():
        yield Incident(event.time / factor, number, event.host, event.away)


def _burn_in(failures: Failures, units: Mapping[str, int], random: np.random.Generator) -> Iterator[Incident]:
    assert failures.burn_in is not None
    defects = random.binomial(units["host"], failures.burn_in.share)
    times = np.sort(failures.burn_in.time * random.standard_exponential(defects))
    yield from (Incident(time, len(failures.causes)) for time in times.tolist())
