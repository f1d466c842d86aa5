"""The steps of a log as a series of times: which job, how long each took, and what one step is worth of another.

Steps of one batch are compared with each other. Where their tokens differ from step to step, a time is that of a step
of the median number of tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from simulator.errors import ScenarioError
from simulator.measured.iteration import Iteration, Log
from simulator.units import Count, Number, Seconds


class Work(NamedTuple):
    """What a step of the scenario is, for logs that only give rates."""

    batch: Count
    """Sequences of a step."""
    tokens: float
    """Tokens of a step."""
    gpus: Count


class Step(NamedTuple):
    """One measured step, or the mean of those since the one before."""

    number: Count
    seconds: Seconds
    clock: Seconds | None
    steps: Count
    """Steps that it is the mean of."""


@dataclass(frozen=True)
class Series:
    """The steps of one job in the order of the log, and what was left out of them, in words."""

    steps: tuple[Step, ...]
    starts: tuple[int, ...]
    """Places in `steps` where the job was started again."""
    warnings: tuple[str, ...]
    batches: tuple[Count, ...]
    """Batches of the log, in their order."""
    tokens_vary: Number
    """Spread of the tokens of steps, P90 over P10 less one; 0 where all are alike or unknown."""


def series(log: Log, work: Work | None = None) -> Series:
    """Return the steps of a log that can be compared with each other, those of `work` where the scenario is known.

    Raises ScenarioError where no step has a time, or none has the batch of the scenario.
    """
    broken = {what: count for what, count in log.skipped.items() if what != "lines without a step"}
    warnings = [f"{log.name}: {count:,} {what} left out" for what, count in broken.items()]
    job = _one_job(log, warnings)
    job, batches = _one_batch(job, work, log.name, warnings)
    tokens = [one.tokens for one in job if one.tokens is not None]
    usual = median(tokens) if tokens and len(tokens) == len(job) else None
    found: list[Step] = []
    starts: list[int] = []
    before: Iteration | None = None
    for one in job:
        if before is not None and one.number is not None and before.number is not None and one.number <= before.number:
            starts.append(len(found))
            before = None
        seconds = _seconds(one, before, work)
        if seconds is not None:
            alike = usual / one.tokens if usual and one.tokens else 1.0
            number = one.number if one.number is not None else len(found) + 1
            when = one.clock if one.number is not None else None
            found.append(Step(number, seconds * alike, when, 1 if one.sampled else _between(before, one)))
        before = one
    if not found:
        raise ScenarioError(
            f"{log.name}: {log.format} gives no time of a step, only rates; name the scenario, which says how many "
            f"tokens a step has"
        )
    return Series(_even(found), tuple(starts), tuple(warnings), batches, _spread(tokens) if usual else 0.0)


def _even(steps: list[Step]) -> tuple[Step, ...]:
    """Return the steps, those after a gap in the log as the mean of as many as the others are."""
    usual = int(median(one.steps for one in steps))
    return tuple(one._replace(steps=usual) if one.steps > 2 * usual else one for one in steps)


def _one_job(log: Log, warnings: list[str]) -> list[Iteration]:
    """Return the steps of the job that has most of them, where a file holds the logs of several."""
    jobs = Counter(one.last for one in log.iterations)
    if len(jobs) == 1:
        return list(log.iterations)
    (last, count), *others = jobs.most_common()
    warnings.append(
        f"{log.name}: holds {len(jobs)} jobs, which end at different iterations; the one with most steps is taken "
        f"({count:,} steps, the others {sum(n for _, n in others):,})"
    )
    return [one for one in log.iterations if one.last == last]


def _one_batch(
    job: list[Iteration], work: Work | None, name: str, warnings: list[str]
) -> tuple[list[Iteration], tuple[Count, ...]]:
    """Return the steps of one batch: that of the scenario, else that of most steps."""
    sizes = Counter(one.batch for one in job if one.batch is not None)
    batches = tuple(dict.fromkeys(one.batch for one in job if one.batch is not None))
    lengths = {one.sequence_length for one in job if one.sequence_length is not None}
    if work is not None and lengths and work.tokens // work.batch not in lengths:
        raise ScenarioError(
            f"{name}: steps of sequences of {max(lengths):,} tokens, training.sequence_length is "
            f"{work.tokens // work.batch:,}; set it to what ran"
        )
    if not sizes:
        return job, ()
    wanted = work.batch if work is not None else sizes.most_common(1)[0][0]
    if wanted not in sizes:
        said = " and ".join(f"{size:,}" for size in batches[:3])
        raise ScenarioError(
            f"{name}: batches of {said} sequences, training.global_batch is {wanted:,}; set it to what ran"
        )
    if len(sizes) > 1:
        warnings.append(f"{name}: batches of {len(sizes)} sizes; the {sizes[wanted]:,} steps of {wanted:,} are taken")
    return [one for one in job if one.batch in (wanted, None)], batches


def _between(before: Iteration | None, one: Iteration) -> Count:
    if before is None or before.number is None or one.number is None:
        return 1
    return max(one.number - before.number, 1)


def _seconds(one: Iteration, before: Iteration | None, work: Work | None) -> Seconds | None:
    """Return the time of a step: as logged, else from its rate, else from the clock."""
    if one.seconds is not None:
        return one.seconds
    batch = one.batch or (work.batch if work else None)
    tokens = one.tokens or (work.tokens if work else None)
    if one.samples_per_s and batch:
        return batch / one.samples_per_s
    if one.tokens_per_s and tokens:
        return tokens / one.tokens_per_s
    if one.tokens_per_gpu and tokens and work:
        return tokens / one.tokens_per_gpu / work.gpus
    if before is None or before.clock is None or one.clock is None or one.number is None or before.number is None:
        return None
    return (one.clock - before.clock) / _between(before, one) if one.clock > before.clock else None


def _spread(tokens: Sequence[float]) -> Number:
    order = sorted(tokens)
    low, high = order[len(order) // 10], order[-1 - len(order) // 10]
    return high / low - 1


def clock_gaps(steps: Sequence[Step]) -> list[tuple[Count, Seconds]]:
    """Return the steps before which the clock of the lines went on for much longer than the step took, and by how much.

    Lines are written to the second, and some of them late; what is less than two seconds or half a step is none.
    """
    found = []
    for before, one in pairwise(steps):
        if before.clock is None or one.clock is None or one.number <= before.number:
            continue
        extra = one.clock - before.clock - one.seconds * one.steps
        if extra > max(2.0, 0.5 * one.seconds):
            found.append((one.number, extra))
    return found
