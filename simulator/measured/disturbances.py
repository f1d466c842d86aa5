"""What disturbs the steps of a log: warm-up, restarts, changes of level, steps that are longer now and then, drift.

The noise of a step is read off the differences of neighbours, which no change of level moves: 1.4826 times their median
absolute value, over the square root of two, is the standard deviation of a normal noise (Rousseeuw and Croux, 1993).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.measured.series import Series, Step, clock_gaps
from simulator.units import Count, Number, Seconds

Times = NDArray[np.float64]
STEPS = 5
"""Steps on either side of a change of level, at least."""
SIGNIFICANT = 6.0
"""Standard deviations that a step must be longer than its neighbours to be one of its own."""
SMALLEST = 0.02
"""A change of level, or a drift over the whole log, that is worth telling."""
LONGER = 0.1
"""A single step that is longer by less is noise, however quiet the log."""
RESTART: Number = 4.0
"""A first step compiles, connects and loads; a step this many times as long as others, and about as long as the first,
is one more start."""
AFTER = 50
"""Steps after a first one that say whether it is longer than usual: a run may have become slower long before a restart,
and its later level is no warm-up."""
NEAR = 3
"""Lines of a log that lie between events of a period, at least."""
MOST_SINGLE = 1000
JITTER = 0.02
"""Share of a period that its events may be early or late: shards of data are not all of one length."""


class Change(NamedTuple):
    """A level that holds from a step on."""

    step: Count
    before_s: Seconds
    after_s: Seconds


class Periodic(NamedTuple):
    """Steps that are longer at a fixed distance: by how much each, and how many there were."""

    every: Count
    extra_s: Seconds
    times: Count


@dataclass(frozen=True)
class Disturbances:
    """What was found in a log; times are seconds of a step, `lost_s` what all took together above the lowest level."""

    steps: Count
    warm_up: Count
    level_s: Seconds
    """The lowest level that held for a while: a step without disturbance."""
    mean_s: Seconds
    median_s: Seconds
    p10_s: Seconds
    p90_s: Seconds
    noise: Number
    """Standard deviation of a step over the level."""
    slope_per_1000: Seconds
    changes: tuple[Change, ...]
    periodic: tuple[Periodic, ...]
    outliers: tuple[tuple[Count, Seconds], ...]
    restarts: tuple[tuple[Count, Seconds], ...]
    """The first step after each, and what it took."""
    clock_gaps: tuple[tuple[Count, Seconds], ...]
    lost_s: Seconds
    by_cause_s: dict[str, Seconds]
    """Seconds above the lowest level, by what they are: periodic, outliers, step_change, drift."""


def disturbances(found: Series) -> Disturbances:
    """Return what disturbs a series of steps; the warm-up and what restarts take are left out of all figures."""
    steps, restarts, warm_up = without_starts(found)
    times = np.array([one.seconds for one in steps])
    counts = np.array([one.steps for one in steps], dtype=float)
    noise = _noise(times)
    single = _single(times, counts, noise)
    quiet = _filled(times, single)
    levels = _levels(quiet, noise)
    slope, drift = _slope(quiet, steps, noise)
    if len(levels) > 1 and drift and _is_line(quiet, steps, slope, levels):
        levels = [(0, float(np.median(quiet)))]
    elif len(levels) > 1:
        slope, drift = 0.0, 0.0
    changes = tuple(
        Change(steps[start].number, float(low), float(high)) for (_, low), (start, high) in pairwise(levels)
    )
    level = _lowest(levels, len(times))
    spacing = int(np.median(np.diff([one.number for one in steps]))) if len(steps) > 1 else 1
    periodic, outliers = _periods([(steps[i], float(times[i] - quiet[i])) for i in np.flatnonzero(single)], spacing)
    above = np.concatenate([np.full(end - start, high - level) for (start, high), end in _spans(levels, len(times))])
    lost = {
        "step_change": float(np.sum(above * counts)) if changes else 0.0,
        "drift": float(np.sum(np.abs(quiet - quiet.min()) * counts) / 2) if drift > SMALLEST else 0.0,
        "periodic": float(sum(one.extra_s * one.times for one in periodic)),
        "outliers": float(sum(extra * step.steps for step, extra in outliers)),
    }
    return Disturbances(
        steps=int(counts.sum()),
        warm_up=warm_up,
        level_s=level,
        mean_s=float(np.average(times, weights=counts)),
        median_s=float(np.median(times)),
        p10_s=float(np.quantile(times, 0.1)),
        p90_s=float(np.quantile(times, 0.9)),
        noise=noise / level,
        slope_per_1000=slope * 1000,
        changes=changes,
        periodic=periodic,
        outliers=tuple((step.number, step.seconds) for step, _ in outliers),
        restarts=tuple((one.number, one.seconds) for one in restarts),
        clock_gaps=tuple(clock_gaps(steps)),
        lost_s=sum(lost.values()),
        by_cause_s=lost,
    )


def without_starts(found: Series) -> tuple[list[Step], list[Step], Count]:
    """Return the steps after the warm-up, the first steps of later starts, and how many steps the warm-up has."""
    every = list(found.steps)
    times = np.array([one.seconds for one in every])
    usual, noise = float(np.median(times)), _noise(times)

    def long(place: int) -> bool:
        """Return whether a step is longer than those after it."""
        after = float(np.median(times[place + 1 : place + 1 + AFTER])) if place + 1 < len(times) else usual
        return bool(times[place] > max(1.2 * after, after + SIGNIFICANT * noise))

    warm_up = 0
    while warm_up < len(every) - 1 and long(warm_up):
        warm_up += 1
    first = every[0].seconds if warm_up else 0.0
    again = {start for start in found.starts if start >= warm_up}
    if first > RESTART * usual:
        longest = 2 * first
        again |= {i for i in range(warm_up, len(every)) if max(RESTART * usual, first / 2) < every[i].seconds < longest}
    for start in sorted(again):  # what follows a start warms up again
        while start + 1 < len(every) and long(start + 1) and start + 1 not in again:
            start += 1
            again.add(start)
    kept = [one for i, one in enumerate(every) if i >= warm_up and not (i in again and long(i))]
    return kept, [every[i] for i in sorted(again)], warm_up


def _noise(times: Times) -> Seconds:
    """Return the standard deviation of a step, from differences of neighbours."""
    if len(times) < 3:
        return 0.0
    return float(1.4826 * np.median(np.abs(np.diff(times))) / np.sqrt(2))


def _single(times: Times, counts: Times, noise: Seconds) -> NDArray[np.bool_]:
    """Return which steps are longer than those around them, by themselves; one long step of ten is in their mean."""
    wide = min(STEPS, (len(times) - 1) // 2)
    if wide < 2:
        return np.zeros(len(times), dtype=bool)
    padded = np.pad(times, wide, mode="reflect")
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * wide + 1), axis=1)
    found: NDArray[np.bool_] = times > around + np.maximum(SIGNIFICANT * noise, LONGER * around / counts)
    return found


def _filled(times: Times, single: NDArray[np.bool_]) -> Times:
    """Return the times with single long steps replaced by what lies around them."""
    if not single.any() or single.all():
        return times
    kept = np.flatnonzero(~single)
    return np.interp(np.arange(len(times)), kept, times[kept])


def _levels(times: Times, noise: Seconds) -> list[tuple[int, Seconds]]:
    """Return where levels begin, and the median of each, by seeded binary segmentation (Kovacs et al., 2023).

    A change must gain more in squares than chance does in a series of this length, and be worth telling.
    """
    cuts, open_ = [0], [(0, len(times))]
    floor = noise * noise + (0.002 * float(np.median(times))) ** 2
    least = 12 * np.log(max(len(times), 2)) * floor
    while open_:
        start, end = open_.pop()
        tried = [found for part in _seeds(start, end) if (found := _cut(times, *part)) is not None]
        for gain, place in sorted(tried, reverse=True)[:1]:
            shift = abs(np.median(times[place:end]) / np.median(times[start:place]) - 1)
            beside = abs(np.median(times[place : place + STEPS]) / np.median(times[place - STEPS : place]) - 1)
            if gain > least and max(shift, beside) > max(SMALLEST, noise / float(times.mean())):
                cuts.append(place)
                open_ += [(start, place), (place, end)]
    cuts = _in_place(times, sorted(cuts))
    return [(start, float(np.median(times[start:end]))) for start, end in pairwise([*cuts, len(times)])]


def _in_place(times: Times, cuts: list[int]) -> list[int]:
    """Return cuts where they are best between their neighbours, which need not be so in the part they were found in."""
    ends = [*cuts, len(times)]
    for i in range(1, len(cuts)):
        best = _cut(times, ends[i - 1], ends[i + 1])
        ends[i] = best[1] if best is not None else ends[i]
    return ends[:-1]


def _seeds(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield parts of a series in which a change is looked for: halves, quarters and so on, which overlap."""
    size = end - start
    while size >= 2 * STEPS:
        for first in range(start, end - size + 1, max(size // 2, 1)):
            yield first, first + size
        if (end - start) % max(size // 2, 1):
            yield end - size, end
        size //= 2


def _cut(times: Times, start: int, end: int) -> tuple[Number, int] | None:
    """Return what the best cut of a part gains in squares, and its place."""
    part, size = times[start:end], end - start
    left = np.arange(1, size)
    sums = np.cumsum(part)
    apart = sums[:-1] / left - (sums[-1] - sums[:-1]) / (size - left)
    gain = left * (size - left) / size * apart**2
    gain[: STEPS - 1] = gain[size - STEPS :] = -1
    best = int(np.argmax(gain))
    return (float(gain[best]), start + best + 1) if gain[best] > 0 else None


def _spans(levels: Sequence[tuple[int, Seconds]], size: int) -> list[tuple[tuple[int, Seconds], int]]:
    return list(zip(levels, [start for start, _ in levels[1:]] + [size], strict=True))


def _lowest(levels: Sequence[tuple[int, Seconds]], size: int) -> Seconds:
    """Return the lowest level that holds for a tenth of the log."""
    held = [high for (start, high), end in _spans(levels, size) if end - start >= size / 10]
    return min(held or [high for _, high in levels])


def _slope(times: Times, steps: Sequence[Step], noise: Seconds) -> tuple[Number, Number]:
    """Return seconds a step that a step grows by, by Theil and Sen over medians of blocks, and the share over the log.

    A slope that noise alone would give is none.
    """
    blocks = min(len(times) // (2 * STEPS), 20)
    if blocks < 4:
        return 0.0, 0.0
    parts = np.array_split(np.arange(len(times)), blocks)
    middle = np.array([np.median(times[part]) for part in parts])
    place = np.array([np.mean([steps[i].number for i in part]) for part in parts])
    one, two = np.triu_indices(blocks, 1)
    slopes = (middle[two] - middle[one]) / (place[two] - place[one])
    slope = float(np.median(slopes))
    rising = float(np.mean(np.sign(slopes)))  # Kendall's tau
    grown = slope * float(place[-1] - place[0])
    if abs(rising) < 0.6 or abs(grown) < max(noise, SMALLEST * float(middle.mean())):
        return 0.0, 0.0
    return slope, grown / float(middle.mean())


def _is_line(times: Times, steps: Sequence[Step], slope: Number, levels: Sequence[tuple[int, Seconds]]) -> bool:
    """Return whether a line is nearer to the times than levels are."""
    grown = times - slope * np.array([one.number for one in steps])
    line = np.abs(grown - np.median(grown)).sum()
    return bool(line < sum(np.abs(times[start:end] - high).sum() for (start, high), end in _spans(levels, len(times))))


def _periods(
    single: Sequence[tuple[Step, Seconds]], spacing: Count
) -> tuple[tuple[Periodic, ...], list[tuple[Step, Seconds]]]:
    """Return long steps that come at a fixed distance, and those that do not; `spacing` is between lines of the log."""
    left = list(single)
    found: dict[Count, tuple[Seconds, Count]] = {}
    while best := max(_chains(left, spacing), key=lambda chain: len(chain[1]), default=None):
        every, members = best
        extra = float(np.median([left[i][1] * left[i][0].steps for i in members]))
        before, count = found.get(every, (0.0, len(members)))
        found[every] = before + extra, count
        left = [one for i, one in enumerate(left) if i not in members]
    return tuple(Periodic(every, *told) for every, told in sorted(found.items())), left


def _chains(single: Sequence[tuple[Step, Seconds]], spacing: Count) -> list[tuple[Count, set[int]]]:
    """Return distances at which at least four in five long steps of a chain are there, and who they are."""
    numbers = [step.number for step, _ in single[:MOST_SINGLE]]
    found = []
    for near in (0.0, JITTER):
        for first, second in combinations(range(min(len(numbers), 6)), 2):
            every = numbers[second] - numbers[first]
            if every <= NEAR * spacing:
                continue
            members = _chain(numbers, first, every, max(spacing - 1, near * every))
            expected = (numbers[-1] - numbers[first]) // every + 1
            if len(members) >= max(3, 0.8 * expected):
                found.append((every, members))
        if found:
            break
    return found


def _chain(numbers: Sequence[Count], first: int, every: Count, near: Number) -> set[int]:
    """Return the places of the numbers that follow each other at `every`, one or more missing between them."""
    members, last = {first}, numbers[first]
    for place in range(first + 1, len(numbers)):
        gap = numbers[place] - last
        if abs(gap - every * max(round(gap / every), 1)) <= near:
            members.add(place)
            last = numbers[place]
    return members
