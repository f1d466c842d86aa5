"""What a step is made of: the pieces and transfers of every chunk, priced; the program says in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, pairwise

from simulator.engine.step.commands import Compute, Handle, Slot, Start, Wait
from simulator.engine.step.order import orders, positions, reductions, stage_of
from simulator.engine.step.pieces import Phase, Piece, Program, Run
from simulator.engine.step.transfers import NOTHING, Loads, Transfer, Volume, add, conflicts, is_in
from simulator.units import Bytes, Seconds, Share
from simulator.workload.schedules import Schedule

DATA = "data"
SEND, RECEIVED = "send", "received"
COPY = "copy"
BESIDE = "+"
"""Marks a phase that runs beside the opposite one of another microbatch."""
Pieces = tuple[Piece, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Unit:
    """Layers that are alike, or an end of the model, as a chunk holds them `count` times in a row."""

    pieces: Mapping[str, Pieces]
    """Of each phase: F forward, B backward, and its halves, I for the inputs and W for the weights; marked with
    `BESIDE` the same beside the opposite pass of another microbatch."""
    copies: Mapping[str, Transfer] = field(default_factory=dict)
    """Between GPU and host, beside the pieces of a phase."""
    gather: Transfer = NOTHING
    """Of its weights, before its forward of every microbatch, where they are sharded."""
    gather_again: Transfer = NOTHING
    """The same before its backward."""
    reduce: Transfer = NOTHING
    """Of its gradients, after its backward of every microbatch."""
    count: int = 1
    dense: float = 0.0
    """Parameters of one of them that a rank holds and that learn, and those of experts."""
    experts: float = 0.0
    frozen_dense: Bytes = 0.0
    """Of weights that a rank holds beside those and that do not learn, and those of experts."""
    frozen_experts: Bytes = 0.0

    @cached_property
    def phases(self) -> dict[str, Phase]:
        """Return what one of them does in each phase."""
        return {kind: Phase(partial(_unit, self, kind, 1), self._streams(kind)) for kind in self.pieces}

    def _streams(self, kind: str) -> frozenset[str]:
        streams = frozenset(chain.from_iterable(piece.streams for piece in self.pieces[kind]))
        return streams | {COPY} if kind in self.copies else streams


def _unit(unit: Unit, kind: str, count: int) -> Program:
    """Do `count` units in a row, each with its copies beside it."""
    if copy := unit.copies.get(kind):
        for _ in range(count):
            beside = yield Start(copy, COPY, "copies")
            for piece in unit.pieces[kind]:
                yield Run(piece)
            yield Wait(beside)
        return
    for piece in unit.pieces[kind]:
        yield Run(piece, count)


@dataclass(frozen=True, eq=False, kw_only=True)
class Chunk:
    """One position in the model: the layers that a stage holds as one piece."""

    units: tuple[Unit, ...]
    """In the order of the model."""
    prefetch: int | None = None
    """Units whose weights are gathered ahead, in every microbatch; None where weights are there all step long."""
    launch: Seconds = 0.0
    """Host time ahead of each forward, hidden by nothing."""
    reduce: tuple[Transfer, ...] = ()
    """Once a step or a round: gradients of each single layer or end, in the order of the model."""
    gather: tuple[Transfer, ...] = ()
    """Once a step: weights of the same."""

    @cached_property
    def layers(self) -> tuple[Unit, ...]:
        """Return the units one by one."""
        return tuple(unit for unit in self.units for _ in range(unit.count))

    @cached_property
    def phases(self) -> dict[str, Phase]:
        """Return what the chunk does in each phase."""
        return {kind: self._phase(kind) for kind in self.units[0].pieces}

    def _phase(self, kind: str) -> Phase:
        streams = frozenset(chain.from_iterable(unit.phases[kind].streams for unit in self.units))
        if self.prefetch is None:
            return Phase(partial(_plain, self, kind), streams)
        return Phase(partial(_gathered, self, kind), streams | {DATA})

    def ahead(self, kind: str, slot: Slot = ()) -> Program:
        """Do what comes before the first unit of a phase."""
        if self.launch and kind[0] == "F":
            yield Compute(self.launch, "other", "launch", slot)

    def gathers(self, kind: str) -> Sequence[Transfer]:
        """Return what is gathered ahead of each layer, in the order of a phase; what the forward gathered last is still
        there when the backward begins."""
        if self.prefetch is None or kind == "W":
            return [NOTHING] * len(self.layers)
        if kind[0] == "F":
            return [unit.gather for unit in self.layers]
        return [NOTHING, *(unit.gather_again for unit in self.layers[-2::-1])]

    def sent(self, kind: str) -> Volume:
        """Return what a GPU sends in a phase."""
        sent: Volume = {}
        for unit in self.units:
            for piece in unit.pieces[kind]:
                add(sent, piece.sent.items(), unit.count)
            if self.prefetch is not None and kind[0] in "BW":
                add(sent, unit.reduce.payload, unit.count)
        for transfer in self.gathers(kind):
            add(sent, transfer.payload)
        return sent

    def in_order(self, kind: str) -> Sequence[Unit]:
        """Return the units in the order in which a phase does them."""
        return self.units if kind[0] == "F" else self.units[::-1]


def _plain(chunk: Chunk, kind: str) -> Program:
    yield from chunk.ahead(kind)
    for unit in chunk.in_order(kind):
        yield from _unit(unit, kind, unit.count)


def _gathered(chunk: Chunk, kind: str) -> Program:
    """Gather the weights of each unit ahead of its compute, and reduce its gradients after it.

    Gathers and reductions share a stream; the phase ends with its last reduction.
    """
    assert chunk.prefetch is not None
    yield from chunk.ahead(kind)
    layers = chunk.layers if kind[0] == "F" else chunk.layers[::-1]
    before = chunk.gathers(kind)
    ready: list[Handle] = []
    outstanding: list[Handle] = []
    for index, unit in enumerate(layers):
        while len(ready) < len(layers) and len(ready) <= index + chunk.prefetch:
            ahead = before[len(ready)]
            ready.append((yield Start(ahead, DATA, "gather")) if ahead.seconds else None)
        if ready[index] is not None:
            yield Wait(ready[index])
        yield from _unit(unit, kind, 1)
        if kind[0] in "BW" and unit.reduce.seconds:
            outstanding.append((yield Start(unit.reduce, DATA, "reduce")))
    for handle in outstanding:
        yield Wait(handle)


@dataclass(frozen=True, eq=False, kw_only=True)
class StepWork:
    """One optimizer step of one replica, stage by stage."""

    schedule: Schedule
    stages: int
    microbatches: int
    chunks: tuple[Chunk, ...]
    """In the order of the model."""
    send: Transfer = NOTHING
    """Activations, or their gradients, from a stage to its neighbour."""
    blocking_send: bool = False
    overlap_reduce: bool = True
    reduce_each_round: bool = False
    overlap_gather: bool = True
    pairs: bool = False
    """Neighbouring passes of two microbatches run beside each other, phases marked with `BESIDE`."""
    optimizer: tuple[tuple[Compute, ...], ...] = ()
    """Of each stage, after all gradients are reduced."""
    end: tuple[tuple[Compute, ...], ...] = ()
    """What else each stage does once a step, hidden by nothing: tied embeddings, host work."""

    @cached_property
    def sent(self) -> Volume:
        """Return what one GPU of each stage sends in the step, all stages together."""
        shape = self.schedule, self.stages, self.microbatches
        sent: Volume = {}
        for tasks in orders(*shape):
            for (kind, position), times in Counter((kind, position) for kind, _, position in tasks).items():
                add(sent, self.chunks[position].sent(kind).items(), times)
        paths = stage_of(*shape)
        add(sent, self.send.payload, 2 * sum(one != other for path in paths for one, other in pairwise(path)))
        copies = Counter(chain.from_iterable(positions(*shape)))
        reduced = reductions(*shape, self.overlap_reduce, self.reduce_each_round)
        times_reduced = Counter(position for stage in reduced for _, position in stage) or copies
        for position, chunk in enumerate(self.chunks):
            for transfer in chunk.gather:
                add(sent, transfer.payload, copies[position])
            for transfer in chunk.reduce:
                add(sent, transfer.payload, times_reduced[position])
        for command in chain.from_iterable(self.optimizer):
            add(sent, command.payload)
        return sent

    @cached_property
    def conflicts(self) -> dict[str, frozenset[str]]:
        """Return the streams inside layers that may have to share links, each with those that it shares them with.

        A stage may send forward and back at once, and receive from both sides; that is called ``received``.
        """
        most: dict[str, dict[str, Share]] = {DATA: {}}
        for chunk in self.chunks:
            for transfer in (*chunk.reduce, *chunk.gather):
                _see(most, DATA, transfer.loads)
            for unit in chunk.units:
                _see(most, DATA, unit.gather.loads)
                _see(most, DATA, unit.reduce.loads)
                for item in (item for pieces in unit.pieces.values() for piece in pieces for item in piece.items):
                    _see(most, item.stream, item.loads)
        layers = most.keys() - {DATA}
        sent = self.send.loads if self.stages > 1 else ()
        most[SEND] = {link: 2 * load for link, load in sent if not is_in(link)}
        most[RECEIVED] = {link: 2 * load for link, load in sent if is_in(link)}
        return {stream: others for stream, others in conflicts(most).items() if stream in layers}


def _see(most: dict[str, dict[str, Share]], stream: str, loads: Loads) -> None:
    links = most.setdefault(stream, {})
    for link, load in loads:
        links[link] = max(links.get(link, 0.0), load)
