"""Work of one stage in a row: operations on streams, and what of it always takes the same time.

A piece is a list of items in the order of issue. Compute is one stream, each axis another, and the host that launches
all of it one more. Where nothing outside of it matters a piece always takes the same time, so that it is worked out
once, and layers that are alike are counted instead of played.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import cached_property
from typing import Any, NamedTuple

from simulator.engine.step.commands import Account, Barrier, Compute, Handle, Put, Receive, Send, Slot, Start, Wait
from simulator.engine.step.contention import NONE, Taken
from simulator.engine.step.transfers import Loads, Payload, Transfer, Volume, add, scaled
from simulator.units import Seconds, Share

COMPUTE = "compute"
HOST = "host"
PARTS = {HOST: "other"}
"""The account of whoever waits for a stream, where it is not named after it."""


class Item(NamedTuple):
    """An operation with its duration."""

    stream: str
    """``compute``, ``host``, or the axis of an exchange."""
    seconds: Seconds
    waits: tuple[int, ...] = ()
    """Places in the list of what must be done before."""
    part: str = COMPUTE
    """The account that a compute item's own time goes to."""
    takes: Taken = NONE
    """What compute has to do without beside this exchange."""
    loads: Loads = ()
    payload: Payload = ()
    name: str = ""
    memory: Share = 0.0
    """Of a compute item, the share of its time that is bound by memory."""


class Alone(NamedTuple):
    """How long work takes with nothing beside it, and its account, which sums to that."""

    seconds: Seconds
    parts: Account


class Piece:
    """Operations that a stage does in a row."""

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.items = _levelled(items)
        self.streams = frozenset(item.stream for item in items)
        self.alone: Alone | None = None
        self.cuts: dict[frozenset[str], tuple[Part, ...] | None] = {}

    def commands(self, *, merged: bool = False) -> Program:
        """Yield the piece operation by operation; it ends when all of its streams are done.

        `merged` computes that follow one another are one: whatever is beside them slows all of them alike.
        """
        handles: list[Any] = []
        last: dict[str, Any] = {}
        for stream, seconds, waits, part, takes, loads, payload, name, memory in self.joined if merged else self.items:
            if stream == COMPUTE:
                for place in waits:
                    yield Wait(handles[place])
                yield Compute(seconds, part, name, memory=memory)
                handles.append(None)
                continue
            transfer = Transfer(PARTS.get(stream, stream), seconds, payload, loads, takes)
            after = tuple(handles[place] for place in waits if handles[place] is not None)
            last[stream] = yield Start(transfer, stream, name, after)
            handles.append(last[stream])
        for handle in last.values():
            yield Wait(handle)

    @cached_property
    def one_by_one(self) -> bool:
        """Return whether no two of its exchanges ever run beside each other: each is waited for before the next."""
        open_: set[int] = set()
        for place, item in enumerate(self.items):
            if item.stream not in (COMPUTE, HOST):
                if open_ - set(item.waits):
                    return False
                open_ = {place}
            else:
                open_.difference_update(item.waits)
        return True

    @cached_property
    def joined(self) -> tuple[Item, ...]:
        """Return the items with computes that follow one another as one."""
        found: list[Item] = []
        places: list[int] = []
        for item in self.items:
            before = found[-1] if found else None
            if before and _goes_on(before, item):
                found[-1] = before._replace(seconds=before.seconds + item.seconds)
            else:
                found.append(item._replace(waits=tuple(places[place] for place in item.waits)))
            places.append(len(found) - 1)
        return tuple(found)

    def cut(self, shared: frozenset[str]) -> Program:
        """Yield the piece with what is between exchanges on `shared` streams as pieces of their own.

        Operation by operation where another exchange is under way across a cut.
        """
        if shared not in self.cuts:
            self.cuts[shared] = _cut(self.items, shared)
        found = self.cuts[shared]
        if found is None:
            yield from self.commands()
            return
        handles: dict[int, Any] = {}
        for part in found:
            if isinstance(part, Piece):
                yield Run(part)
            elif isinstance(part, _Until):
                yield Wait(handles[part.place])
            else:
                place, item = part
                transfer = Transfer(
                    PARTS.get(item.stream, item.stream), item.seconds, item.payload, item.loads, item.takes
                )
                after = tuple(handles[other] for other in item.waits if other in handles)
                handles[place] = yield Start(transfer, item.stream, item.name, after)

    def scaled(self, share: Share) -> Piece:
        """Return the piece with `share` of each duration."""
        if share == 1:
            return self
        return Piece(
            tuple(
                item._replace(seconds=share * item.seconds, payload=scaled(item.payload, share)) for item in self.items
            )
        )

    @cached_property
    def sent(self) -> Volume:
        """Return what a GPU sends in it."""
        sent: Volume = {}
        for item in self.items:
            add(sent, item.payload)
        return sent


def _goes_on(before: Item, item: Item) -> bool:
    """Return whether a compute follows another on the same account, with nothing to wait for between them."""
    return before.stream == item.stream == COMPUTE and before.part == item.part and not item.waits


def _levelled(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the items with one share bound by memory, their mean, for computes that follow one another.

    Which of them meets a transfer shifts from microbatch to microbatch; together they may be played as one.
    """
    found: list[Item] = []
    first = 0
    for place, item in enumerate(items):
        if place and not _goes_on(items[place - 1], item):
            found += _mixed(items[first:place])
            first = place
    return (*found, *_mixed(items[first:]))


def _mixed(items: tuple[Item, ...]) -> tuple[Item, ...]:
    if len(items) < 2:
        return items
    seconds = sum(item.seconds for item in items)
    memory = sum(item.memory * item.seconds for item in items) / seconds if seconds else 0.0
    return tuple(item._replace(memory=memory) for item in items)


class _Until(NamedTuple):
    """Wait for the exchange at a place."""

    place: int


Part = Piece | _Until | tuple[int, Item]
"""Of a piece that is cut: work between exchanges, a wait, or an exchange with its place."""


def _cut(items: tuple[Item, ...], shared: frozenset[str]) -> tuple[Part, ...] | None:
    """Return the parts of a piece, or None where an exchange on another stream is under way across a cut."""
    apart = shared | {HOST}
    parts: list[Part] = []
    between: list[Item] = []
    places: dict[int, int] = {}
    under_way: set[int] = set()
    waited: set[int] = set()

    def close() -> bool:
        if under_way:
            return False
        if between:
            parts.append(Piece(tuple(between)))
            between.clear()
            places.clear()
        return True

    for place, item in enumerate(items):
        outer = [other for other in item.waits if items[other].stream in apart]
        inner = tuple(places[other] for other in item.waits if other in places)
        if item.stream in apart:
            if not close():
                return None
            parts.append((place, item))
            continue
        if outer:
            if not close():
                return None
            parts.extend(_Until(other) for other in outer if other not in waited)
            waited.update(outer)
            inner = ()
        under_way.difference_update(item.waits)
        if item.stream != COMPUTE:
            under_way.add(place)
        places[place] = len(between)
        between.append(item._replace(waits=inner))
    under_way.clear()
    close()
    last = {item.stream: place for place, item in enumerate(items) if item.stream in apart}
    parts.extend(_Until(place) for place in last.values() if place not in waited)
    return tuple(parts)


class Phase:
    """Work that starts nothing that outlives it: alone, it takes the same time whenever it is done."""

    def __init__(self, body: Callable[[], Program], streams: frozenset[str]) -> None:
        self.body = body
        self.streams = streams
        """That its transfers use."""
        self.alone: Alone | None = None


class Run(NamedTuple):
    """Occupy the compute stream with a piece, `times` times in a row."""

    piece: Piece
    times: int = 1


class Do(NamedTuple):
    """Do a task, or a part of one.

    `phase` is given where nothing that the task starts outlives it, so that it takes as long each time it runs alone;
    `body` writes its commands.
    """

    name: str
    kind: str
    body: Callable[[], Program]
    phase: Phase | None = None
    slot: Slot = ()


Command = Compute | Run | Start | Wait | Send | Put | Receive | Barrier | Do
Program = Generator[Command, Handle, None]
