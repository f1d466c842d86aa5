"""What a run costs: GPU-hours of everything rented, dollars, energy and carbon."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simulator.outcome.results import CostLuck, CostResult, Distribution
from simulator.units import DollarsPerHour, DollarsPerKilowattHour, Joules, KilogramsPerKilowattHour, Number

JOULES_PER_KILOWATT_HOUR = 3.6e6


def distribution(samples: Sequence[float]) -> Distribution:
    """Return mean and percentiles of `samples`.

    >>> distribution([1.0, 2.0, 3.0]).p50
    2.0
    """
    low, middle, high = (float(value) for value in np.percentile(np.asarray(samples, dtype=float), [10, 50, 90]))
    mean = samples[0] if min(samples) == max(samples) else math.fsum(samples) / len(samples)
    return Distribution(mean=float(mean), p10=low, p50=middle, p90=high)


def scaled(spread: Distribution, factor: float) -> Distribution:
    return Distribution(
        mean=spread.mean * factor, p10=spread.p10 * factor, p50=spread.p50 * factor, p90=spread.p90 * factor
    )


def cost(
    wall_clock: Distribution,
    *,
    gpus: int,
    gpu_hour: DollarsPerHour,
    spare_gpus: int = 0,
    energy: Joules,
    electricity: DollarsPerKilowattHour = 0.0,
    pue: Number = 1.0,
    carbon: KilogramsPerKilowattHour = 0.0,
    luck: Distribution | None = None,
) -> CostResult:
    """Return the cost of keeping `gpus` rented for `wall_clock` seconds, `spare_gpus` of which stand by.

    `energy` is what the machines draw in the mean run; the building draws `pue` times as much. `electricity` is what
    the tenant pays beside the rent, nothing where the rent includes it. `luck` is the wall clock by failures alone.
    """
    drawn = energy * pue / JOULES_PER_KILOWATT_HOUR
    per_second = drawn * electricity / wall_clock.mean if wall_clock.mean else 0.0
    each = gpus / 3600.0 * gpu_hour + per_second
    hours = scaled(wall_clock, gpus / 3600.0)
    alone = None if luck is None else CostLuck(gpu_hours=scaled(luck, gpus / 3600.0), dollars=scaled(luck, each))
    return CostResult(
        gpu_hours=hours,
        dollars=scaled(wall_clock, each),
        energy_j=energy * pue,
        co2_kg=drawn * carbon,
        spares_dollars=spare_gpus / gpus * hours.mean * gpu_hour,
        luck=alone,
    )
