"""Why a measured run takes longer than it should, as far as its log can tell.

The mean step is taken apart: the level that undisturbed steps have, what disturbs some of them, and how far the level
is from the prediction. A log has no parts of a step, so that none are made up: what is between level and prediction is
`unexplained`, and what else the log says of it stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, NamedTuple

from simulator.errors import ScenarioError
from simulator.measured import logs
from simulator.measured.causes import Cause, causes
from simulator.measured.disturbances import Disturbances, disturbances
from simulator.measured.iteration import Log
from simulator.measured.series import Series, Work, series
from simulator.outcome.results import STEP_PARTS
from simulator.scenario import Scenario
from simulator.simulation import Prediction, predict
from simulator.units import Bytes, FlopsPerSecond, Number, Seconds, Share
from simulator.version import version
from simulator.workload.flops import CONVENTIONS, trained_flops_per_token

SAME: Share = 0.03
"""FLOP/s of a log that are as near to those of a convention are counted by it; those of other conventions are further
away where sequences are long."""
APART: Share = 0.25
"""Rate and clock of a log that differ by more are not of the same batch on the same GPUs; writing lines takes less."""
ALIKE: Share = 0.1
"""Tokens of steps that differ by less from those of the scenario are its tokens."""


class Expected(NamedTuple):
    """How long a step should take: by the prediction, or by the undisturbed steps of the run itself."""

    source: Literal["prediction", "peers"]
    time_s: Seconds
    time_low_s: Seconds
    time_high_s: Seconds
    parts_s: Mapping[str, Seconds]


@dataclass(frozen=True)
class Explanation:
    """What a log says of a run beside what was expected of it; seconds are those of a step."""

    scenario: Scenario | None
    log: Log
    series: Series
    found: Disturbances
    expected: Expected
    causes: tuple[Cause, ...]
    warnings: tuple[str, ...]
    memory: Bytes | None
    """Largest allocation of a GPU that was logged."""
    flops: Mapping[str, FlopsPerSecond] = field(default_factory=dict)
    """FLOP/s of a GPU at the level, by convention, and `logged`."""

    @property
    def gap_s(self) -> Seconds:
        """The mean step less the expected one."""
        return self.found.mean_s - self.expected.time_s

    @property
    def parts_s(self) -> dict[str, Seconds]:
        """The gap by parts, signed; they sum to it."""
        disturbed = self.found.mean_s - self.found.level_s
        parts = dict.fromkeys(STEP_PARTS, 0.0)
        return parts | {"other": disturbed, "unexplained": self.gap_s - disturbed}

    @property
    def within_range(self) -> bool:
        """Whether undisturbed steps take what was expected, and the disturbed ones lengthen the mean by little."""
        return self.expected.time_low_s <= self.found.mean_s <= self.expected.time_high_s

    @property
    def is_unexplained(self) -> bool:
        """Whether the mean step is out of range, and most of that for no reason that a log shows."""
        return not self.within_range and abs(self.parts_s["unexplained"]) > 0.5 * abs(self.gap_s)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain explain``."""
        found, expected = self.found, self.expected
        return {
            "version": version(),
            "scenario": self.scenario.resolved if self.scenario else None,
            "inputs": [
                {
                    "path": self.log.name,
                    "kind": "log",
                    "format": self.log.format,
                    "ranks": None,
                    "steps": found.steps,
                    "lines": self.log.lines,
                    "skipped": [{"what": what, "count": count} for what, count in self.log.skipped.items()],
                }
            ],
            "warnings": list(self.warnings),
            "assumptions": [vars(one) for one in self.scenario.assumptions] if self.scenario else [],
            "expected": {**expected._asdict(), "parts_s": dict(expected.parts_s)},
            "measured": {
                "time_s": found.mean_s,
                "p10_s": found.p10_s,
                "p90_s": found.p90_s,
                "steps": found.steps,
                **{f"tflops_per_gpu_{name}": value / 1e12 for name, value in self.flops.items()},
                "mfu_convention": counted_by(self.flops),
                "peak_bytes": self.memory,
            },
            "gap": {
                "seconds": self.gap_s,
                "share": self.gap_s / expected.time_s,
                "within_range": self.within_range,
                "parts_s": self.parts_s,
            },
            "causes": [one.as_dict() for one in self.causes],
            "log": _told(self.log, self.series, found, self.memory),
        }


def explain(text: str, name: str, scenario: Scenario | None = None) -> Explanation:
    """Return what the log in `text`, called `name`, says; beside a prediction where the scenario is known.

    Raises ScenarioError where no step is found, or where the log is not of the scenario: other batches or GPUs.
    """
    work = _work(scenario)
    log = logs.read(text, name)
    _same_run(log, work)
    steps = series(log, work)
    found = disturbances(steps)
    predicted = predict(scenario) if scenario is not None and work is not None else None
    memory = max((one.memory for one in log.iterations if one.memory is not None), default=None)
    told = _flops(log, found, scenario) if scenario is not None else {}
    warnings = [*steps.warnings, *(scenario.warnings if scenario else ()), *_reading(told, memory, predicted, name)]
    expected = _expected(found, predicted)
    reasons = causes(found, steps, expected.time_low_s, expected.time_high_s)
    return Explanation(scenario, log, steps, found, expected, reasons, tuple(warnings), memory, told)


def step_time(text: str, name: str, scenario: Scenario) -> tuple[Seconds, str]:
    """Return the median step of a log after its warm-up, and the format of the log; raises as `explain` does."""
    log = logs.read(text, name)
    return disturbances(series(log, _work(scenario))).median_s, log.format


def _work(scenario: Scenario | None) -> Work | None:
    if scenario is None or scenario.model is None or scenario.training.step_time is not None:
        return None
    batch = scenario.training.global_batch
    return Work(batch, scenario.training.step_tokens, scenario.gpus)


def _expected(found: Disturbances, predicted: Prediction | None) -> Expected:
    if predicted is not None:
        low, high = predicted.time_low_s, predicted.time_high_s
        return Expected("prediction", predicted.step_time_s, low, high, predicted.parts_s)
    level, noise = found.level_s, max(2 * found.noise, 0.01)
    return Expected("peers", level, level * (1 - noise), level * (1 + noise), {})


def _same_run(log: Log, work: Work | None) -> None:
    """Refuse a log whose steps cannot be those of the scenario."""
    if work is None:
        return
    tokens = [one.tokens for one in log.iterations if one.tokens is not None]
    if tokens and min(tokens) == max(tokens) and abs(tokens[0] / work.tokens - 1) > ALIKE:
        raise ScenarioError(
            f"{log.name}: steps of {tokens[0]:,.0f} tokens, the scenario has {work.tokens:,.0f}, "
            f"training.global_batch x training.sequence_length; set them to what ran"
        )
    rates = [one.tokens_per_gpu for one in log.iterations if one.tokens_per_gpu is not None and not one.seconds]
    clocked = [
        (two.clock - one.clock) / (two.number - one.number)
        for one, two in zip(log.iterations, log.iterations[1:], strict=False)
        if one.clock is not None and two.clock is not None and one.number is not None and two.number is not None
        if two.number > one.number
    ]
    if len(rates) < 3 or len(clocked) < 3:
        return
    by_rate, by_clock = work.tokens / median(rates) / work.gpus, median(clocked)
    if by_clock > 0 and abs(by_rate / by_clock - 1) > APART:
        raise ScenarioError(
            f"{log.name}: {median(rates):,.0f} tokens a second and GPU on the scenario's {work.gpus:,} GPUs are steps "
            f"of {by_rate:.3g} s, the times of its lines are {by_clock:.3g} s a step apart; the number of GPUs, "
            f"training.global_batch or training.sequence_length is not what ran"
        )


def _flops(log: Log, found: Disturbances, scenario: Scenario) -> dict[str, FlopsPerSecond]:
    """Return FLOP/s of a GPU at the level by each convention, and what the log says of its median step."""
    work = _work(scenario)
    said = [one.flops for one in log.iterations if one.flops is not None]
    if work is None or scenario.model is None:
        return {}
    rate = work.tokens / found.level_s / work.gpus
    told: dict[str, FlopsPerSecond] = {
        str(name): rate
        * trained_flops_per_token(scenario.model, scenario.training.tuning, scenario.training.attended, name)
        for name in CONVENTIONS
    }
    return told | ({"logged": median(said)} if said else {})


def _reading(
    told: Mapping[str, FlopsPerSecond], memory: Bytes | None, predicted: Prediction | None, name: str
) -> list[str]:
    """Return what is to be known before a number of the log is compared with another."""
    found = []
    if "logged" in told and counted_by(told) is None:
        ours = ", ".join(f"{key} {value / 1e12:.0f}" for key, value in told.items() if key != "logged")
        found.append(
            f"{name}: {told['logged'] / 1e12:.0f} TFLOP/s a GPU are by no convention that is known ({ours}): recompute "
            f"is counted, or the model or the number of GPUs is another"
        )
    if memory is not None and predicted is not None:
        share = memory / predicted.memory.peak_bytes - 1
        if abs(share) > 0.2:
            found.append(
                f"{name}: {memory / 2**30:.1f} GiB of a GPU are allocated, {predicted.memory.peak_bytes / 2**30:.1f} "
                f"GiB were predicted; recompute, sharding or microbatch may not be what the scenario says"
            )
    return found


def _told(log: Log, steps: Series, found: Disturbances, memory: Bytes | None) -> dict[str, Any]:
    return {
        "format": log.format,
        "steps": found.steps,
        "warm_up": found.warm_up,
        "level_s": found.level_s,
        "median_s": found.median_s,
        "p10_s": found.p10_s,
        "p90_s": found.p90_s,
        "noise": found.noise,
        "slope_per_1000": found.slope_per_1000,
        "changes": [one._asdict() for one in found.changes],
        "periodic": [one._asdict() for one in found.periodic],
        "outliers": [{"step": step, "seconds": seconds} for step, seconds in found.outliers],
        "restarts": [{"step": step, "seconds": seconds} for step, seconds in found.restarts],
        "clock_gaps": [{"step": step, "seconds": seconds} for step, seconds in found.clock_gaps],
        "lost_s": found.lost_s,
        "memory_bytes": memory,
        "batch": list(steps.batches),
        "tokens_vary": steps.tokens_vary,
    }


def counted_by(told: Mapping[str, FlopsPerSecond]) -> str | None:
    """Return the convention by which a log counts its FLOP/s, None where no known one gives them."""
    logged = told.get("logged")
    if logged is None:
        return None
    ours = {name: abs(value / logged - 1) for name, value in told.items() if name != "logged"}
    nearest = min(ours, key=lambda name: ours[name])
    return nearest if ours[nearest] <= SAME else None


def gap_share(explanation: Explanation) -> Number:
    """Return the gap over the expected step."""
    return explanation.gap_s / explanation.expected.time_s
