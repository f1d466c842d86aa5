"""Cases of failures and checkpoints with an expected value: closed forms, published fleets, other people's sums.

A row of the shipped table names a model and its inputs, ``stall=300 mtbf=86400``, in SI units. A row of another
table that has only an ``id`` is looked up in the shipped one, where a case may have several quantities.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from inspect import signature
from pathlib import Path
from typing import NamedTuple

from simulator.errors import ForetrainError
from simulator.reliability import populations, theory
from simulator.reliability.checkpointing.cost import load_time, save_overhead
from simulator.validation.expression import InexpressibleError
from simulator.validation.reliability_runs import simulated

LARGEST = 1e18
SHIPPED = Path(__file__).parent / "data" / "reliability_cases.csv"
SUMMED: dict[str, Callable[..., float]] = {
    "young": theory.young,
    "daly": theory.daly,
    "optimal_interval": theory.optimal_interval,
    "optimal_period": lambda stall, mtbf: theory.optimal_interval(stall, mtbf) + stall,
    "availability_interval": theory.availability_interval,
    "availability_period": lambda stall, mtbf, recovery: theory.availability_interval(stall, mtbf, recovery) + stall,
    "availability": theory.availability,
    "completion": theory.completion,
    "efficiency": theory.efficiency,
    "two_tiers": lambda near, far, near_stall, far_stall, near_recovery, far_recovery, mtbf, survives: theory.two_tiers(
        (near, far), (near_stall, far_stall), (near_recovery, far_recovery), mtbf, survives
    ),
    "elastic": lambda mtbf, stall, degraded, replicas: theory.elastic(mtbf, stall, degraded, int(replicas)),
    "meta_ettr": lambda hosts, rate, interval, stall, recovery: theory.effective_training_time_ratio(
        int(hosts), rate, interval, stall, recovery
    ),
    "job_mtbf": lambda hosts, rate: populations.job_mtbf(int(hosts), rate),
    "binomial_quantile": lambda count, share, level: populations.binomial_quantile(int(count), share, level),
    "poisson_quantile": populations.poisson_quantile,
    "waiting_share": lambda hosts, rate, repair, spares: populations.waiting_share(
        int(hosts), rate, repair, int(spares)
    ),
    "node_availability": populations.node_availability,
    "peers_survive": lambda hosts, lost, peers: populations.peers_survive(int(hosts), int(lost), int(peers)),
    "lemon_failure": lambda drawn, hazard, share, factor: populations.lemon_failure(int(drawn), hazard, share, factor),
    "interruptions": lambda **units: populations.domains(_domains(units))[0],
    "hosts_lost": lambda **units: populations.domains(_domains(units))[1],
    "transfer_time": load_time,
    "save_overhead": save_overhead,
}
"""Models that are a formula; every other is simulated."""


class Case(NamedTuple):
    id: str
    quantity: str
    measured: float | None
    predicted: float | None
    """None where the case is not one that the simulator can express."""
    tolerance: float
    """The difference that the case allows."""
    note: str

    @property
    def agrees(self) -> bool:
        """Whether the prediction is within the tolerance."""
        if self.measured is None or self.predicted is None:
            return False
        return abs(self.predicted - self.measured) <= self.tolerance


def shipped() -> tuple[dict[str, str], ...]:
    """Return the rows of the shipped table."""
    with SHIPPED.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def evaluate(rows: Iterable[Mapping[str, str]]) -> Iterator[Case]:
    """Yield what is measured and predicted for every quantity of every row."""
    known: dict[str, list[dict[str, str]]] = {}
    for row in shipped():
        known.setdefault(row["id"], []).append(row)
    for given in rows:
        own = [dict(given)] if given.get("model") else known.get(given.get("id", ""), [])
        if not own:
            yield Case(
                given.get("id", ""), "case", None, None, 0.0, "its inputs are words, and no case here has its id"
            )
        for case in own:
            yield _case(case)


def _case(row: Mapping[str, str]) -> Case:
    quantity = row.get("quantity") or "case"
    measured, tolerance, predicted, note = None, 0.0, None, row.get("note", "")
    try:
        measured = _number("expected", row["expected"])
        tolerance = _tolerance(row["tolerance"], measured)
        predicted = _predicted(row["model"], quantity, row["inputs"])
    except (InexpressibleError, ForetrainError) as error:
        note = str(error)
    return Case(row["id"], quantity, measured, predicted, tolerance, note)


def _predicted(model: str, quantity: str, inputs: str) -> float:
    words = _words(inputs)
    try:
        if model in SUMMED:
            return _finite(float(SUMMED[model](**_arguments(model, words))), inputs)
        found = _simulated(model, inputs)
    except (ArithmeticError, ValueError, KeyError) as error:
        raise InexpressibleError(f"model {model} has no answer for {inputs}: {error}") from None
    if quantity not in found:
        raise InexpressibleError(f"model {model} gives no {quantity!r}; it gives {', '.join(found)}")
    return _finite(found[quantity], inputs)


def _finite(value: float, inputs: str) -> float:
    if not math.isfinite(value):
        raise InexpressibleError(f"no finite answer for {inputs}")
    return value


def _arguments(model: str, words: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers that a formula takes, after making sure that they are those it needs."""
    numbers = {key: _number(key, value) for key, value in words.items()}
    try:
        signature(SUMMED[model]).bind(**numbers)
    except TypeError as error:
        raise InexpressibleError(f"model {model}: {error}") from None
    return numbers


@cache
def _simulated(model: str, inputs: str) -> Mapping[str, float]:
    return simulated(model, _words(inputs))


def _words(inputs: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in inputs.split()]
    if wrong := next((key for key, equals, _ in pairs if not equals), None):
        raise InexpressibleError(f"inputs: expected KEY=NUMBER, found {wrong[:40]!r}")
    return {key: value for key, _, value in pairs}


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise InexpressibleError(f"{name}: expected a number, found {text[:40]!r}")
    return value


def _tolerance(text: str, measured: float) -> float:
    share = abs(measured) / 100 if text.endswith("%") else 1.0
    return share * _number("tolerance", text.removesuffix("%") or "0")


def _domains(units: Mapping[str, float]) -> Iterator[tuple[int, float, int]]:
    """Yield (number, rate, hosts behind) from keys such as ``host_units``, ``host_rate`` and ``host_hosts``."""
    for name in [key.removesuffix("_units") for key in units if key.endswith("_units")]:
        yield int(units[f"{name}_units"]), units[f"{name}_rate"], int(units[f"{name}_hosts"])
