"""The fast clock for many layouts at once: steps whose tasks come in the same order and differ in how long they take.

What `pipeline.play` does task by task is done here for all tasks that wait for nothing of each other, and for all
steps, in one go; a test holds the two equal. Seconds only: who waited for what is the account of `pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

import numpy as np

from simulator.engine.order import positions
from simulator.engine.waves import Array, marks, waves
from simulator.engine.work import StepWork
from simulator.units import Seconds

MOST_CELLS = 4_000_000
"""Tasks times steps that are held at once."""
FILLED = 2
"""Periods after which a step is taken to go on in the same rhythm; what matters is then timed task by task."""


def times(works: Sequence[StepWork]) -> list[Seconds]:
    """Return the time of each step, long ones from two short ones and the difference between them."""
    found: dict[int, Seconds] = {}
    batches: dict[tuple[object, ...], list[tuple[int, int, int, int]]] = {}
    for index, work in enumerate(works):
        period = work.schedule.period(work.stages, work.microbatches) or 0
        groups = work.microbatches // period - FILLED - 1 if period else 0
        short = work.microbatches - groups * period if groups >= 1 else work.microbatches
        batches.setdefault((*alike(work), short), []).append((index, short, max(groups, 0), period))
    for members in batches.values():
        ones = [works[index] for index, *_ in members]
        short, period = members[0][1], members[0][3]
        base = play([replace(work, microbatches=short) for work in ones])
        longer = base
        if any(groups for _, _, groups, _ in members):
            longer = play([replace(work, microbatches=short + period) for work in ones])
        for (index, _, groups, _), first, second in zip(members, base, longer, strict=True):
            found[index] = float(first + groups * (second - first))
    return [found[index] for index in range(len(works))]


def alike(work: StepWork) -> tuple[object, ...]:
    """Return what steps must have in common to be timed together."""
    flags = (work.blocking_send, work.overlap_reduce, work.reduce_each_round, work.overlap_gather)
    return (work.schedule, work.stages, *flags)


def play(works: Sequence[StepWork]) -> Array:
    """Return the seconds of steps that are alike and have equally many microbatches."""
    tasks = 2 * works[0].microbatches * len(works[0].chunks)
    size = max(MOST_CELLS // tasks, 1)
    return np.concatenate([_Steps(works[first : first + size]).seconds() for first in range(0, len(works), size)])


class _Steps:
    """Steps side by side: a row for each task, chunk or stage, a column for each step."""

    def __init__(self, works: Sequence[StepWork]) -> None:
        self.works = works
        self.one = one = works[0]
        self.order = waves(one.schedule, one.stages, one.microbatches)
        self.first, self.reducing = marks(
            one.schedule, one.stages, one.microbatches, one.overlap_reduce, one.reduce_each_round
        )
        self.held = [list(places) for places in positions(one.schedule, one.stages, one.microbatches)]
        names = ("forward", "backward", "input_gradient", "weight_gradient")
        self.pieces = self._rows(lambda work: [getattr(part, name).seconds for name in names for part in work.chunks])
        self.reduce = self._rows(lambda work: [part.reduce.seconds for part in work.chunks])
        self.gather = self._rows(lambda work: [part.gather.seconds for part in work.chunks])
        self.layers = self._rows(lambda work: [max(part.layers, 1) for part in work.chunks])
        self.send = np.array([work.send.seconds for work in works])
        self.data = np.zeros((one.stages, len(works)))
        """When the data stream of each stage is free."""

    def _rows(self, of: Callable[[StepWork], list[float]]) -> Array:
        return np.array([of(work) for work in self.works]).T

    def seconds(self) -> Array:
        ends, free = self._play()
        now = np.array([free[self.order.number[end - 1]] for end in self.order.starts[1:]])
        if self.one.overlap_reduce:
            self._reduce(ends)
        elif not self.one.reduce_each_round:
            now += np.array([self.reduce[places].sum(axis=0) for places in self.held])
        return self._finish(np.maximum(now, self.data))

    def _play(self) -> tuple[Array, Array]:
        """Return when each task ends, and when its stage is free again; a row for no task before and no input."""
        order, one = self.order, self.one
        taken, late, behind = self.pieces[order.code], *self._marked()
        sms = np.array([work.communication_sms for work in self.works])
        for task, beside in self._beside():
            taken[task] += sms * beside
        ends = np.full((len(taken) + 2, len(self.works)), -np.inf)
        ends[-1] = 0.0
        apart = one.blocking_send or bool(behind)
        free = ends.copy() if apart else ends
        crossing = bool(order.hops.all())
        for low, high in pairwise(order.bounds):
            arrival = ends.take(order.needs[low:high], axis=0)
            arrival += self.send if crossing else order.hops[low:high, None] * self.send
            start = free.take(order.before[low:high], axis=0)
            np.maximum(start, arrival, out=start)
            while late and late[-1][0] < high:
                task, earliest = late.pop()
                np.maximum(start[task - low], earliest, out=start[task - low])
            start += taken[low:high]
            ends[low:high] = start
            if apart:
                free[low:high] = start + order.sends[low:high, None] * self.send if one.blocking_send else start
                while behind and behind[-1][0] < high:
                    task, seconds = behind.pop()
                    free[task] += seconds
        return ends, free

    def _marked(self) -> tuple[list[tuple[int, Array]], list[tuple[int, Array]]]:
        """Return the tasks that wait for weights and until when, and those with a reduction behind, the last first."""
        late, behind = [], []
        for stage, places in enumerate(self.held):
            for position in places:
                task, gather = self.order.number[self.first[stage, position]], self.gather[position]
                if self.one.overlap_gather and gather.any():
                    self.data[stage] += gather
                    late.append((int(task), self.data[stage] - self._spread(gather, position, position)))
        if not self.one.overlap_reduce:
            behind = [(int(self.order.number[task]), self.reduce[position]) for _, position, task in self.reducing]
        return sorted(late, key=itemgetter(0), reverse=True), sorted(behind, key=itemgetter(0), reverse=True)

    def _beside(self) -> Iterator[tuple[int, Array]]:
        """Yield the tasks beside which something is transferred, and for how long."""
        if self.one.overlap_gather:
            for (_, position), task in self.first.items():
                yield int(self.order.number[task]), self._spread(self.gather[position], position, position)
        if self.one.overlap_reduce:
            for _, position, task in self.reducing:
                number = int(self.order.number[task])
                yield number, self._spread(self.reduce[position], position, self.order.code[number])

    def _reduce(self, ends: Array) -> None:
        """Queue every reduction on the data stream of its stage."""
        for stage, position, task in self.reducing:
            reduce, number = self.reduce[position], self.order.number[task]
            start = np.maximum(self.data[stage], ends[number] - self._spread(reduce, position, self.order.code[number]))
            done = np.maximum(start + reduce, ends[number] + reduce / self.layers[position])
            self.data[stage] = np.where(reduce > 0, done, self.data[stage])

    def _spread(self, transfer: Array, position: int, code: int) -> Array:
        return (1 - 1 / self.layers[position]) * np.minimum(transfer, self.pieces[code])

    def _finish(self, now: Array) -> Array:
        """Return when the last stage is done with what follows the norm of the gradients."""
        after = np.zeros_like(now)
        if self.one.optimizer:
            after += self._rows(lambda work: [piece.seconds for piece in work.optimizer])
        if not self.one.overlap_gather:
            after += np.array([self.gather[places].sum(axis=0) for places in self.held])
        if self.one.end:
            after += self._rows(lambda work: [piece.seconds for piece in work.end])
        return now.max(axis=0) + after.max(axis=0)
