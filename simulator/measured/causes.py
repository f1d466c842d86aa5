"""What disturbs a run, as causes: how much of a step each takes, what shows it, and what to do next.

Kinds of disturbance and what they may come from follow published studies of slow jobs: collection of garbage
(pytorch/torchtitan#148), saves and evaluations, hosts that become slow (Greyhound, arXiv 2410.12588).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from simulator.measured.disturbances import Disturbances
from simulator.measured.series import Series
from simulator.units import Seconds, Share

WORTH: Share = 0.005
"""Share of a step that a cause must take to be named: what is smaller is noise of the mean."""


@dataclass(frozen=True)
class Cause:
    """One reason, by the name of the contract of ``explain``."""

    cause: str
    part: str
    seconds: Seconds
    """Of a mean step."""
    share_of_gap: Share | None
    confidence: Share
    says: str
    next: str
    """What to do about it, or to look at."""
    steps: tuple[int, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    not_distinguishable_from: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of a cause."""
        return {
            "cause": self.cause,
            "part": self.part,
            "seconds": self.seconds,
            "share_of_gap": self.share_of_gap,
            "confidence": self.confidence,
            "where": {"ranks": [], "hosts": [], "stage": None, "group": None, "links": [], "steps": list(self.steps)},
            "evidence": list(self.evidence),
            "not_distinguishable_from": list(self.not_distinguishable_from),
            "lever": {"text": self.next, "settings": {}, "saves_s": self.seconds},
        }


def causes(found: Disturbances, steps: Series, low: Seconds, high: Seconds) -> tuple[Cause, ...]:
    """Return what lengthens the mean step, most seconds first; `none` where nothing does and the level is in range."""
    gap = found.mean_s - (low + high) / 2
    every = [one for one in _all(found, gap) if one.seconds > WORTH * found.level_s or one.cause == "restarts"]
    every.sort(key=lambda one: -one.seconds)
    if steps.tokens_vary > 0.05:
        every.append(_uneven(found, steps))
    if not every and low <= found.level_s <= high:
        every.append(
            Cause("none", "other", 0.0, None, 0.95, "steps take what was expected, and no disturbance shows", "")
        )
    return tuple(every)


def _all(found: Disturbances, gap: Seconds) -> Iterator[Cause]:
    def share(seconds: Seconds) -> Share | None:
        return seconds / gap if gap > 0 else None

    if found.changes:
        lost = found.by_cause_s["step_change"] / found.steps
        first = found.changes[0]
        sure = abs(first.after_s / first.before_s - 1) > 6 * found.noise
        more = f", {_counted(len(found.changes) - 1, 'further change')}" if len(found.changes) > 1 else ""
        yield Cause(
            "step_change",
            "other",
            lost,
            share(lost),
            0.95 if sure else 0.7,
            f"from step {first.step:,} on {first.after_s:.4g} s, before {first.before_s:.4g} s{more}",
            f"look for what changed at step {first.step:,}: hosts, other jobs, clocks of GPUs; traces of both tell",
            tuple(one.step for one in found.changes),
            tuple(
                {"what": f"level from step {one.step}", "value": one.after_s, "unit": "s", "expected": one.before_s}
                for one in found.changes
            ),
            ("slow_gpu", "slow_host", "slow_link", "contention"),
        )
    for one in found.periodic:
        lost = one.extra_s * one.times / found.steps
        yield Cause(
            "periodic",
            "other",
            lost,
            share(lost),
            0.95,
            f"one step in {one.every:,} takes {one.extra_s:.4g} s longer, {one.times:,} times",
            f"see what is done every {one.every:,} steps (saves, evaluation, collection of garbage); do it less often, "
            f"or beside the step",
            (),
            ({"what": "longer step every", "value": one.every, "unit": "steps", "expected": None},),
            ("pause", "data_stall"),
        )
    if found.outliers:
        lost = found.by_cause_s["outliers"] / found.steps
        yield Cause(
            "outliers",
            "other",
            lost,
            share(lost),
            0.8,
            f"{_counted(len(found.outliers), 'longer step')}, the longest {max(s for _, s in found.outliers):.4g} s",
            "hold their times against those of saves, loaders and other jobs on the cluster",
            tuple(step for step, _ in found.outliers[:50]),
            (),
            ("pause", "data_stall", "contention"),
        )
    if found.slope_per_1000:
        lost = found.by_cause_s["drift"] / found.steps
        yield Cause(
            "drift",
            "other",
            lost,
            share(lost),
            0.8,
            f"a step takes {found.slope_per_1000:+.3g} s more after 1,000 steps",
            "look at memory that grows, heat, and data that becomes longer",
            (),
            ({"what": "slope", "value": found.slope_per_1000, "unit": "s per 1000 steps", "expected": 0.0},),
        )
    if found.restarts:
        took = sum(seconds for _, seconds in found.restarts)
        yield Cause(
            "restarts",
            "other",
            0.0,
            None,
            0.8,
            f"{_counted(len(found.restarts), 'restart')}; first steps after them took {took:.4g} s, in no mean here",
            "count them with foretrain stress: interval of saves, spares, time to restart",
            tuple(step for step, _ in found.restarts),
        )
    if found.clock_gaps:
        lost = sum(seconds for _, seconds in found.clock_gaps) / found.steps
        yield Cause(
            "pause",
            "stall",
            lost,
            share(lost),
            0.6,
            f"{len(found.clock_gaps):,} times the clock went on for longer than the step took, {lost:.3g} s a step",
            "these seconds are in no step time: saves, evaluation or collection of garbage between steps",
            tuple(step for step, _ in found.clock_gaps[:50]),
        )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _uneven(found: Disturbances, steps: Series) -> Cause:
    return Cause(
        "uneven_tokens",
        "straggler",
        0.0,
        None,
        0.6,
        f"steps differ in tokens by {100 * steps.tokens_vary:.0f}% (P90 over P10); times are of a step of the median",
        "compare tokens a second, not steps; pack or sort sequences by length",
    )
