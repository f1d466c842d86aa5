"""The clock without sharing for many layouts at once: a step's program is recorded, and then timed in arrays.

What a task waits for does not depend on how long tasks take, so that one recording serves all steps that do the same
in the same order. Slowing of compute beside transfers is left out: the time is a lower bound of that of every other
clock, since orders are fixed, and nothing ends later when something takes less time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from simulator.engine.step.commands import Barrier, Compute, Key, Put, Receive, Send, Slot, Start, Wait
from simulator.engine.step.local_clock import alone
from simulator.engine.step.pieces import Do, Program
from simulator.engine.step.program import programs
from simulator.engine.step.stage_clocks import StuckError
from simulator.engine.step.transfers import Transfer
from simulator.engine.step.work import StepWork
from simulator.sums import added
from simulator.units import Seconds

Array = np.ndarray[Any, Any]
FILLED = 2
"""Periods after which a step is taken to go on in the same rhythm; what matters is then timed task by task."""
MOST_CELLS = 4_000_000
"""Tasks times steps that are held at once."""
Node = int
"""The end of a command; node 0 is the beginning of the step."""


class Recording(NamedTuple):
    """Nodes sorted by how many others they wait for in a row."""

    slots: tuple[Slot, ...]
    durations: Array
    """Place of each node's duration among the slots."""
    needs: Array
    """Nodes that each waits for, at most three, or else 0: a row for the first ones, the second and the third."""
    bounds: tuple[int, ...]
    """Nodes between two bounds wait for earlier ones only."""
    ends: Array
    """The last node of each stage."""


def times(works: Sequence[StepWork]) -> list[Seconds]:
    """Return the time of each step, of long ones from two short ones and the difference between them."""
    batches: dict[tuple[object, ...], list[int]] = {}
    for index, work in enumerate(works):
        batches.setdefault(alike(work), []).append(index)
    found = [0.0] * len(works)
    for members in batches.values():
        ones = [works[index] for index in members]
        period = ones[0].schedule.period(ones[0].stages, ones[0].microbatches) or 0
        groups = max(ones[0].microbatches // period - FILLED - 1, 0) if period else 0
        short = ones[0].microbatches - groups * period
        seconds = play([replace(one, microbatches=short) for one in ones])
        if groups:
            seconds += groups * (play([replace(one, microbatches=short + period) for one in ones]) - seconds)
        for index, one in zip(members, seconds, strict=True):
            found[index] = float(one)
    return found


def alike(work: StepWork) -> tuple[object, ...]:
    """Return what steps must have in common to be timed together."""
    flags = work.blocking_send, work.overlap_reduce, work.reduce_each_round, work.overlap_gather, work.pairs
    layers = tuple(len(one.layers) if one.prefetch is None else 0 for one in work.chunks)
    return work.schedule, work.stages, work.microbatches, flags, layers


def _whole(work: StepWork) -> StepWork:
    """Return the step with everything that a step alike may have; what it has not takes no time."""
    something = (Transfer(seconds=1.0),)
    chunks = tuple(
        replace(one, launch=1.0)
        if one.prefetch is not None
        else replace(one, launch=1.0, reduce=len(one.layers) * something, gather=len(one.layers) * something)
        for one in work.chunks
    )
    once = ((Compute(1.0),),) * work.stages
    return replace(work, chunks=chunks, optimizer=once, end=once)


def play(works: Sequence[StepWork]) -> Array:
    """Return the seconds of steps that are alike."""
    recording = _recording(_Alike(works[0]))
    size = max(MOST_CELLS // len(recording.durations), 1)
    parts = [_play(recording, works[first : first + size]) for first in range(0, len(works), size)]
    return np.concatenate(parts)


def _play(recording: Recording, works: Sequence[StepWork]) -> Array:
    durations = np.array([[seconds(work, slot) for work in works] for slot in recording.slots])
    ends = np.zeros((len(recording.durations), len(works)))
    taken, (first, second, third) = durations[recording.durations], recording.needs
    for low, high in pairwise(recording.bounds):
        start = ends.take(first[low:high], axis=0)
        np.maximum(start, ends.take(second[low:high], axis=0), out=start)
        if third[low:high].any():
            np.maximum(start, ends.take(third[low:high], axis=0), out=start)
        np.add(start, taken[low:high], out=ends[low:high])
    result: Array = ends[recording.ends].max(axis=0)
    return result


def seconds(work: StepWork, slot: Slot) -> Seconds:
    """Return the duration of a step that a slot names."""
    match slot:
        case ("send",):
            return work.send.seconds
        case ("gather" | "reduce" as name, int(position), int(layer)):
            transfers = work.chunks[position].gather if name == "gather" else work.chunks[position].reduce
            return transfers[layer].seconds if transfers else 0.0
        case (str(kind), int(position)):
            return alone(work.chunks[position].phases[kind]).seconds
        case (str(kind), int(position), "ahead"):
            return work.chunks[position].launch
        case ("optimizer" | "end" as name, int(stage), int()):
            commands = work.optimizer if name == "optimizer" else work.end
            return added(command.seconds for command in commands[stage]) if commands else 0.0
        case (str(kind), int(position), int(layer)):
            return alone(work.chunks[position].layers[layer].phases[kind]).seconds
    return 0.0


class _Alike:
    """A step as a key: equal to all that are alike."""

    def __init__(self, work: StepWork) -> None:
        self.work = work
        self.key = alike(work)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Alike) and self.key == other.key


@lru_cache(maxsize=16)
def _recording(one: _Alike) -> Recording:
    recorder = _Recorder()
    stages = [_Stage(recorder, program) for program in programs(_whole(one.work))]
    ready = list(reversed(stages))
    while ready:
        stage = ready.pop()
        stage.go_on()
        ready += [recorder.waiting.pop(key) for key in list(recorder.waiting) if key in recorder.arrivals]
    if recorder.waiting:
        raise StuckError
    together = recorder.node((), [node for stage in stages for node in stage.now])
    for stage in stages:
        stage.now = [together]
        stage.go_on()
    return recorder.recording([recorder.node((), stage.now) for stage in stages])


class _Recorder:
    """The nodes of a step, as its stages make them."""

    def __init__(self) -> None:
        self.slots: dict[Slot, int] = {(): 0}
        self.durations = [0]
        self.needs: list[tuple[Node, ...]] = [(0, 0, 0)]
        self.depth = [0]
        self.arrivals: dict[Key, Node] = {}
        self.waiting: dict[Key, _Stage] = {}

    def node(self, slot: Slot, needs: list[Node]) -> Node:
        """Add what takes as long as `slot` says once all that it needs is done; nothing where it takes no time."""
        while len(needs) > (1 if not slot else 3):
            needs = [self._add(0, needs[place : place + 3]) for place in range(0, len(needs), 3)]
        return self._add(self.slots.setdefault(slot, len(self.slots)), needs) if slot else needs[0]

    def _add(self, duration: int, needs: list[Node]) -> Node:
        self.durations.append(duration)
        self.needs.append((*needs, 0, 0)[:3])
        depth = self.depth
        depth.append(1 + max([depth[need] for need in needs]))
        return len(depth) - 1

    def recording(self, ends: list[Node]) -> Recording:
        depth = np.array(self.depth)
        order = np.argsort(depth, kind="stable")
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        needs = number[np.array(self.needs)[order]].T.copy()
        bounds = np.searchsorted(depth[order], np.arange(1, depth.max() + 2))
        slots = tuple(self.slots)
        return Recording(slots, np.array(self.durations)[order], needs, tuple(map(int, bounds)), number[ends])


class _Stage:
    """A stage that records what it does instead of doing it."""

    def __init__(self, recorder: _Recorder, program: Program) -> None:
        self.recorder = recorder
        self.program = program
        self.now: list[Node] = [0]
        """What the compute stream waits for before it goes on."""
        self.last: dict[str, Node] = {}
        """The last transfer of each stream."""
        self.missing: Key | None = None
        self.handle: Node | None = None

    def go_on(self) -> None:
        """Record until an input is missing, a barrier is met, or the end."""
        if self.missing is not None:
            self.now.append(self.recorder.arrivals.pop(self.missing))
            self.missing = None
        self._record(self.program)

    def _record(self, program: Program) -> None:
        recorder = self.recorder
        while True:
            try:
                command = program.send(self.handle)
            except StopIteration:
                return
            self.handle = None
            if isinstance(command, Do):
                if command.phase is not None:
                    self.now = [recorder.node(command.slot, self.now)]
                else:
                    self._record(command.body())
            elif isinstance(command, Receive):
                if command.key not in recorder.arrivals:
                    self.missing = command.key
                    recorder.waiting[command.key] = self
                    return
                self.now.append(recorder.arrivals.pop(command.key))
            elif isinstance(command, Send):
                self.handle = self._start(f"to {command.target}", command.slot, ())
                recorder.arrivals[command.key] = self.handle
            elif isinstance(command, Put):
                recorder.arrivals[command.key] = recorder.node((), self.now)
            elif isinstance(command, Start):
                self.handle = self._start(command.stream, command.slot, command.after)
            elif isinstance(command, Wait):
                self.now.append(command.handle)
            elif isinstance(command, Compute):
                self.now = [recorder.node(command.slot, self.now)]
            elif isinstance(command, Barrier):
                return

    def _start(self, stream: str, slot: Slot, after: Sequence[Node]) -> Node:
        needs = [*self.now, *after]
        if stream in self.last:
            needs.append(self.last[stream])
        self.last[stream] = self.recorder.node(slot, needs)
        return self.last[stream]
