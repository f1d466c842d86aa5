"""What a stage does in a step: the one statement of its rules, which every clock plays."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial

from simulator.engine.step.commands import Barrier, Handle, Put, Receive, Send, Start, Wait
from simulator.engine.step.order import orders, pairs, positions, reductions, stage_of
from simulator.engine.step.pieces import Command, Do, Program
from simulator.engine.step.transfers import Transfer
from simulator.engine.step.work import BESIDE, DATA, Chunk, StepWork


def programs(step: StepWork) -> list[Program]:
    """Return the program of each stage."""
    return [stage(step, number) for number in range(step.stages)]


def stage(step: StepWork, number: int) -> Program:
    """Do the tasks of the schedule in their order, hand on what they make, reduce the gradients, update the weights."""
    shape = step.schedule, step.stages, step.microbatches
    path, last = stage_of(*shape), len(step.chunks) - 1
    reduced = reductions(*shape, step.overlap_reduce, step.reduce_each_round)[number]
    held = positions(*shape)[number]
    beside_others = pairs(*shape)[number] if step.pairs else ()
    arriving: dict[int, list[Handle]] = {}
    outstanding: list[Handle] = []
    if step.overlap_gather:
        for position in held:
            if step.chunks[position].gather:
                arriving[position] = yield from _start(step.chunks[position].gather, "gather", position)

    for place, (kind, microbatch, position) in enumerate(orders(*shape)[number]):
        chunk, forward = step.chunks[position], kind == "F"
        if (position > 0) if forward else (kind != "W" and position < last):
            yield Receive((forward, microbatch, position))

        weights = arriving.pop(position, None) if forward else None
        reduces = (microbatch, position) in reduced and bool(chunk.reduce) and kind in "BW"
        beside = outstanding if reduces and step.overlap_reduce else None
        name = f"{kind}{microbatch}"
        phase_kind = kind + BESIDE if place in beside_others else kind
        if weights is not None or beside is not None:
            yield Do(name, kind, partial(_by_layer, chunk, phase_kind, position, weights, beside))
        else:
            phase = chunk.phases[phase_kind]
            yield Do(name, kind, phase.body, phase, (phase_kind, position))

        after = position + 1 if forward else position - 1
        if kind != "W" and 0 <= after <= last:
            key, target = (forward, microbatch, after), path[microbatch][after]
            if target == number:
                yield Put(key)
            else:
                sent = yield Send(key, target, step.send, ("send",))
                if step.blocking_send:
                    yield Wait(sent)
        if reduces and not step.overlap_reduce:
            yield from _exposed(chunk.reduce, "reduce", position)

    if not (step.overlap_reduce or step.reduce_each_round):
        for position in held:
            yield from _exposed(step.chunks[position].reduce, "reduce", position)
    for handle in outstanding:
        yield Wait(handle)
    yield Barrier()  # The norm of the gradients needs those of all stages.
    for place, command in enumerate(step.optimizer[number] if step.optimizer else ()):
        yield command._replace(slot=("optimizer", number, place))
    if not step.overlap_gather:
        for position in held:
            yield from _exposed(step.chunks[position].gather, "gather", position)
    for place, command in enumerate(step.end[number] if step.end else ()):
        yield command._replace(slot=("end", number, place))


def _start(transfers: Sequence[Transfer], name: str, position: int) -> Generator[Command, Handle, list[Handle]]:
    handles = []
    for layer, transfer in enumerate(transfers):
        handles.append((yield Start(transfer, DATA, name, (), (name, position, layer))))
    return handles


def _exposed(transfers: Sequence[Transfer], name: str, position: int) -> Program:
    for handle in (yield from _start(transfers, name, position)):
        yield Wait(handle)


def _by_layer(
    chunk: Chunk, kind: str, position: int, weights: Sequence[Handle] | None, outstanding: list[Handle] | None
) -> Program:
    """Do a task layer by layer: each waits for its weights if they are on their way, and sends its gradients on."""
    yield from chunk.ahead(kind, (kind, position, "ahead"))
    order = range(len(chunk.layers))
    for layer in order if kind[0] == "F" else reversed(order):
        if weights is not None:
            yield Wait(weights[layer])
        phase = chunk.layers[layer].phases[kind]
        yield Do("", kind[0], phase.body, phase, (kind, position, layer))
        if outstanding is not None:
            slot = ("reduce", position, layer)
            outstanding.append((yield Start(chunk.reduce[layer], DATA, "reduce", (), slot)))
