"""Why two scenarios differ: their inputs, and step time, days and dollars as products of named factors.

Time is work over what the machine would do at its peak, lengthened by one cause after the other; each cause is a
factor over all that comes before it, so that the factors of a scenario multiply to its figure, and their quotients to
the ratio of two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, prod
from typing import Any, NamedTuple

from simulator.outcome.results import STEP_PARTS, Result
from simulator.outcome.utilisation import NAMES
from simulator.scenario import Scenario
from simulator.sums import added
from simulator.units import Number
from simulator.workload.flops import trained_flops_per_token

FIGURES = ("step time", "days", "dollars")
MEASURED = "measured step"
ELSE = "all else"
SMALL = 5e-4
"""Factors closer to 1 are told together."""
LATER = {"checkpoints": ("checkpoint",), "failures": ("lost", "detect", "diagnose", "restart", "wait", "degraded")}
"""What lengthens a run, one after the other, from `run.parts_s`."""


class Factor(NamedTuple):
    """What one cause contributes to a figure of each scenario, and to their ratio."""

    name: str
    first: Number
    second: Number

    @property
    def ratio(self) -> Number:
        return self.second / self.first


class Difference(NamedTuple):
    """A key of the input and what each scenario says there; empty where it says nothing."""

    key: str
    values: tuple[str, ...]


def factors(first: tuple[Scenario, Result], second: tuple[Scenario, Result], figure: str) -> tuple[Factor, ...]:
    """Return the factors of a figure that differ; they multiply to the ratio of the second to the first."""
    one, two = (terms(*each, figure) for each in (first, second))
    if one.keys() != two.keys():
        # A measured step has no parts to compare: what the step is made of becomes one factor.
        one, two = (_whole_step(*each, figure) for each in (first, second))
    found = [Factor(name, one[name], two[name]) for name in one]
    told = [factor for factor in found if abs(factor.ratio - 1) >= SMALL]
    rest = [factor for factor in found if factor not in told]
    if rest and any(factor.ratio != 1 for factor in rest):
        told.append(Factor(ELSE, prod(f.first for f in rest), prod(f.second for f in rest)))
    return tuple(told)


def terms(scenario: Scenario, result: Result, figure: str) -> dict[str, Number]:
    """Return the factors whose product is a figure of one scenario: seconds a step, mean seconds, mean dollars."""
    step = _step(scenario, result)
    if figure == "step time":
        return step
    step.pop("tokens a step", None)
    run = _run(scenario, result)
    if figure == "days":
        return _work(scenario, result) | step | run
    rented = scenario.cluster.hosts + (scenario.cluster.spares or 0)
    gpus = step.pop("GPUs", 1 / scenario.gpus)
    dollars = result.cost.dollars.mean
    rent = result.cost.gpu_hours.mean * scenario.prices.gpu_hour
    return (
        _work(scenario, result)
        | step
        | run
        | {
            "spare hosts": rented * scenario.gpus_per_host * gpus,
            "price of a GPU-hour": scenario.prices.gpu_hour / 3600,
            "electricity": dollars / rent if rent else 1.0,
        }
    )


def _step(scenario: Scenario, result: Result) -> dict[str, Number]:
    training, parts = scenario.training, result.step.parts_s
    if scenario.model is None or training.step_time is not None:
        return {MEASURED: result.step.time_s}
    peak = scenario.cluster.host.gpu.peak_of(training.precision.kind)
    tokens = training.step_tokens
    each = trained_flops_per_token(scenario.model, training.tuning, training.attended, "causal")
    computed = parts["compute"]
    found = {
        "tokens a step": tokens,
        "FLOPs a token": each,
        "GPUs": 1 / scenario.gpus,
        "peak FLOP/s": 1 / peak,
        "kernel efficiency": computed * scenario.gpus * peak / (tokens * each),
    }
    reached = computed
    for name in STEP_PARTS[1:]:
        longer = reached + parts.get(name, 0.0)
        found[NAMES.get(name, name)] = longer / reached
        reached = longer
    return found


def _work(scenario: Scenario, result: Result) -> dict[str, Number]:
    """Return how much is trained: tokens where the step is simulated, else steps."""
    steps = result.run.ideal_s / result.step.time_s
    if scenario.model is None or scenario.training.step_time is not None:
        return {"steps": steps}
    return {"tokens of the run": steps * scenario.training.step_tokens}


def _run(scenario: Scenario, result: Result) -> dict[str, Number]:
    run = result.run
    reached, found = run.ideal_s, dict[str, Number]()
    for name, parts in LATER.items():
        longer = reached + added(run.parts_s[part] for part in parts)
        found[name] = longer / reached
        reached = longer
    found["stops and evaluation"] = run.wall_clock_s.mean / reached
    return found


def _whole_step(scenario: Scenario, result: Result, figure: str) -> dict[str, Number]:
    step = {"the step": result.step.time_s}
    if figure == "step time":
        return step
    step |= {"steps": result.run.ideal_s / result.step.time_s} | _run(scenario, result)
    if figure == "days":
        return step
    hours, rent = result.cost.gpu_hours.mean, result.cost.gpu_hours.mean * scenario.prices.gpu_hour
    return step | {
        "GPUs rented": hours * 3600 / result.run.wall_clock_s.mean,
        "price of a GPU-hour": scenario.prices.gpu_hour / 3600,
        "electricity": result.cost.dollars.mean / rent if rent else 1.0,
    }


def value(result: Result, figure: str) -> Number:
    """Return the figure itself."""
    return {
        "step time": result.step.time_s,
        "days": result.run.wall_clock_s.mean,
        "dollars": result.cost.dollars.mean,
    }[figure]


def comparable(results: Sequence[Result], figure: str) -> bool:
    """Return whether a figure of all scenarios is a number that can be divided."""
    return all(isfinite(found := value(result, figure)) and found > 0 for result in results)


UNTOLD = ("name", "source", "expect", "version", "search")
"""Keys that say nothing about the run."""
BASES = ("model", "stack", "cluster.host", "cluster.host.gpu")
"""Sections that have a name; where the names differ, so does all that is below."""


def differences(scenarios: Sequence[Mapping[str, Any]]) -> tuple[Difference, ...]:
    """Return the keys that resolved scenarios do not agree on; of models, hosts and stacks the name, if it differs."""
    flat = [dict(_flat(scenario)) for scenario in scenarios]
    found = [
        Difference(key, tuple(one.get(key, "") for one in flat))
        for key in dict.fromkeys(key for one in flat for key in one)
        if key.partition(".")[0] not in UNTOLD and len({one.get(key, "") for one in flat}) > 1
    ]
    other = [base for base in BASES if any(one.key in (f"{base}.base", f"{base}.name") for one in found)]
    return tuple(one for one in found if not any(_below(one.key, base) for base in other))


def _below(key: str, base: str) -> bool:
    return key.startswith(f"{base}.") and key not in (f"{base}.base", f"{base}.name")


def _flat(data: Any, path: str = "") -> list[tuple[str, str]]:
    if isinstance(data, Mapping):
        return [pair for key, item in data.items() for pair in _flat(item, f"{path}.{key}" if path else str(key))]
    return [(path, _text(data))]


def _text(data: Any) -> str:
    if isinstance(data, list | tuple):
        return "[" + ", ".join(_text(item) for item in data) + "]"
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in data.items()) + "}"
    return str(data).lower() if isinstance(data, bool) else "" if data is None else str(data)
