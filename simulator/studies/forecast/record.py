"""The JSON of a forecast."""

from __future__ import annotations

from typing import Any

from simulator.studies.forecast.forecast import Forecast
from simulator.version import version


def told(made: Forecast) -> dict[str, Any]:
    """Return the JSON of ``foretrain forecast``: SI units, distributions as mean and percentiles."""
    evidence, step, before = made.evidence, made.step, made.before
    wall, left, spend = made.wall_clock_s, made.left_s, made.dollars
    predicted = before.step.time_s
    ends = evidence.now
    return {
        "version": version(),
        "scenario": made.scenario.resolved,
        "seed": made.scenario.seed,
        "warnings": list(made.warnings),
        "log": {"path": made.explained.log.name, "format": made.explained.log.format},
        "evidence": {
            "steps_done": evidence.done,
            "steps_total": evidence.total,
            "elapsed_s": evidence.elapsed,
            "elapsed_from": evidence.elapsed_from,
            "failures": evidence.failures,
            "exposed_s": evidence.exposed,
            "away_s": list(evidence.away),
            "interruptions": [one._asdict() for one in evidence.interruptions],
            "batches": step.batches,
        },
        "before": {
            "step_s": predicted,
            "step_low_s": before.step.time_low_s,
            "step_high_s": before.step.time_high_s,
            "wall_clock_s": vars(before.run.wall_clock_s),
            "dollars": vars(before.cost.dollars),
            "goodput": vars(before.run.goodput),
            "failures_per_day": made.predicted_rate * 86400,
        },
        "forecast": {
            "step_s": predicted * step.ratio,
            "step_low_s": predicted * step.ratio * step.error.low,
            "step_high_s": predicted * step.ratio * step.error.high,
            "wall_clock_s": vars(wall),
            "left_s": vars(left),
            "finish": None if ends is None else {name: ends + value for name, value in vars(left).items()},
            "dollars": vars(spend),
            "dollars_spent": made.spent,
            "goodput": vars(made.rest.goodput()),
            "failures_per_day": made.rate * 86400,
            "restart_s": made.rest.run.recovery.mean_down(made.rest.run.units["gpu"]) * made.really.away.middle,
            "progress": made.rest.progress,
        },
        "targets": made.targets,
        "alarms": [one.as_dict() for one in made.alarms],
        "levers": [one.as_dict() for one in made.levers],
    }
