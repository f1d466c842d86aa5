"""What the data axis sends: gradients reduced, weights gathered, chunk by chunk or unit by unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from simulator.engine.durations import Durations
from simulator.engine.inputs import Inputs
from simulator.engine.stage_units import Unit
from simulator.engine.streams import Item, play
from simulator.engine.work import Piece, Transfer
from simulator.machine import collectives
from simulator.sums import added
from simulator.units import Bytes, Seconds
from simulator.workload import gathering
from simulator.workload.operations import Exchange, Traffic
from simulator.workload.states import WIDTH, widths

MEMORY_PASSES = 3
"""Passes over GPU memory of each byte of a ring of NCCL: written by the rank before, read, and written to where it goes
or read together with what is added to it."""
MOST_TAKEN = 0.9
"""Compute never stops beside a transfer, however fast its links are beside its memory."""


class Sent(NamedTuple):
    """A gather or reduction of a unit on its way."""

    seconds: Seconds = 0.0
    nbytes: Bytes = 0.0


class DataAxis:
    def __init__(self, inputs: Inputs, durations: Durations) -> None:
        self.inputs = inputs
        self.durations = durations
        self.level = inputs.parallelism.shard.level
        self.replicas = durations.channels["replicate"].ranks
        self.gradient = WIDTH[inputs.stack.gradient_reduce]
        self.weight = self._weight_width()

    def _weight_width(self) -> Bytes:
        """Return bytes a weight on the wire; layers that gather for themselves gather what they compute with."""
        inputs = self.inputs
        if inputs.stack.gather:
            return WIDTH[inputs.stack.gather]
        if gathering.layer_by_layer(inputs.stack, inputs.parallelism):
            return widths(inputs.model, inputs.stack, inputs.training).compute
        return WIDTH[inputs.training.states.weights]

    @property
    def sharded(self) -> bool:
        """Whether weights are gathered unit by unit in every microbatch, and gradients reduced."""
        inputs = self.inputs
        shared = self.durations.channels["shard"].ranks > 1
        return shared and gathering.every_microbatch(inputs.stack, inputs.parallelism)

    @property
    def gathers(self) -> int:
        """How often a unit is gathered for a microbatch."""
        return gathering.times(self.inputs.parallelism)

    def transfers(self, dense: float, experts: float, tensors: int) -> tuple[Transfer, Transfer]:
        """Return the reduction of the gradients and the gathering of the weights of a chunk with these parameters.

        Ranks that own whole tensors broadcast theirs one rank after the other; no more of them do than there are
        `tensors`.
        """
        reduce, gather, bucket = Transfer(), Transfer(), self.inputs.stack.reduce_bucket
        for count, axis in ((dense, "shard"), (experts, "expert_data")):
            if not count:
                continue
            if self.level == "none":
                reduce = join(reduce, self.transfer(Exchange(axis, "all_reduce", count * self.gradient), bucket))
            else:
                reduce = join(reduce, self.transfer(Exchange(axis, "reduce_scatter", count * self.gradient), bucket))
                gather = join(gather, self._gather(axis, count * self.weight, tensors))
            if axis == "shard" and self.replicas > 1:
                reduce = join(reduce, self.transfer(self._across_replicas(count)))
        return reduce, gather

    def _gather(self, axis: str, nbytes: Bytes, tensors: int) -> Transfer:
        """Return the weights of a chunk on their way from the ranks that updated them to all."""
        if self.inputs.stack.shard_unit == "slice":
            return self.transfer(Exchange(axis, "all_gather", nbytes), self.inputs.stack.reduce_bucket)
        owners = min(self.durations.channels[axis].ranks, tensors)
        return self.transfer(Exchange(axis, "broadcast", nbytes), nbytes / owners)

    def _across_replicas(self, count: float) -> Exchange:
        """Return the all-reduce of a rank's share of the gradients over the copies of HSDP."""
        shares = self.durations.channels["shard"].ranks if self.level != "none" else 1
        return Exchange("replicate", "all_reduce", count * self.gradient / shares)

    def gathered(self, units: Sequence[Unit]) -> dict[str, Piece]:
        """Return the pieces of a chunk whose weights are gathered unit by unit ahead of compute.

        The reduction of a unit follows its backward; gathers and reductions share the data stream. The last unit of the
        forward is still there when the backward begins, and all are where gradients only are sharded.
        """
        single, gathers, scatters = list[Unit](), list[Sent](), list[Sent]()
        for unit in units:
            single += [self.with_copies(unit)] * unit.count
            gathers += [self._sent(unit, "all_gather", self.weight)] * unit.count
            scatters += [self._sent(unit, "reduce_scatter", self.gradient)] * unit.count
        nothing = [Sent()] * len(single)
        scatters.reverse()
        again = nothing if self.gathers == 1 else [Sent(), *reversed(gathers[:-1])]
        back = list(reversed(single))
        pieces = {
            "forward": self._stream([unit.forward for unit in single], gathers, nothing),
            "backward": self._stream([unit.backward for unit in back], again, scatters),
        }
        if self.inputs.parallelism.schedule.splits:
            pieces["input_gradient"] = self._stream([unit.input_gradient for unit in back], again, nothing)
            pieces["weight_gradient"] = self._stream([unit.weight_gradient for unit in back], nothing, scatters)
        return pieces

    def with_copies(self, unit: Unit) -> Unit:
        """Return the unit with the copies between its tensors and the flat buffers on the wire."""
        stack, channels = self.inputs.stack, self.durations.channels
        count = unit.dense + (unit.experts if channels["expert_data"].ranks > 1 else 0.0)
        gather = self._copy(count * self.weight * stack.gather_copies)
        scatter = self._copy(count * self.gradient * stack.scatter_copies)
        again = Piece() if self.gathers == 1 else gather
        return replace(
            unit,
            forward=gather + unit.forward,
            backward=again + unit.backward + scatter,
            input_gradient=again + unit.input_gradient,
            weight_gradient=unit.weight_gradient + scatter,
        )

    def _copy(self, nbytes: Bytes) -> Piece:
        seconds = self.durations.seconds(Traffic(nbytes)) if nbytes and "data" not in self.durations.without else 0.0
        return Piece(seconds, {"data": seconds}) if seconds else Piece()

    def _sent(self, unit: Unit, operation: str, width: Bytes) -> Sent:
        exchanges = [
            Exchange(axis, operation, count * width)
            for count, axis in ((unit.dense, "shard"), (unit.experts, "expert_data"))
            if count
        ]
        if operation == "reduce_scatter" and unit.dense and self.replicas > 1:
            exchanges.append(self._across_replicas(unit.dense))
        return Sent(
            added(self.durations.seconds(exchange) for exchange in exchanges),
            added(exchange.nbytes for exchange in exchanges if self.durations.channels[exchange.axis].ranks > 1),
        )

    def _item(self, sent: Sent) -> Item:
        """Return a gather or reduction of a layer, which compute beside it shares SMs and memory with."""
        memory = MEMORY_PASSES * sent.nbytes / sent.seconds / self.durations.gpu.memory_bandwidth
        return Item("data", sent.seconds, taken=min(MOST_TAKEN, self.inputs.stack.communication_sms + memory))

    def _stream(self, computes: list[Piece], before: list[Sent], after: list[Sent]) -> Piece:
        """Play units whose weights are gathered `prefetch` units ahead, with what each sends after it."""
        prefetch, items = self.inputs.stack.prefetch, list[Item]()
        position: dict[int, int] = {}
        issued = 0
        for index, compute in enumerate(computes):
            while issued < len(computes) and issued <= index + prefetch:
                if before[issued].seconds:
                    position[issued] = len(items)
                    items.append(self._item(before[issued]))
                issued += 1
            waits = (position[index],) if index in position else ()
            items.append(Item("compute", compute.seconds, waits))
            if after[index].seconds:
                items.append(self._item(after[index]))
        played = play(items)
        own = sum(computes, Piece())
        exposed = played.seconds - own.seconds
        return Piece(played.seconds, {**own.parts, "data": own.parts.get("data", 0.0) + exposed})

    def transfer(self, exchange: Exchange, bucket: Bytes = 0.0) -> Transfer:
        """Return an exchange as a transfer that may share its links with others, cut into buckets if they are given."""
        channel = self.durations.channels[exchange.axis]
        pieces = max(1.0, exchange.nbytes / bucket) if bucket else 1.0
        seconds = pieces * self.durations.seconds(exchange._replace(nbytes=exchange.nbytes / pieces))
        if channel.hosts <= 1 or seconds <= 0:
            return Transfer(seconds)
        algorithm = self.durations.algorithm
        nbytes = collectives.wire_bytes(exchange.operation, exchange.nbytes, channel, algorithm)
        bandwidth = channel.scale_out_bandwidth / channel.ranks_per_host
        return Transfer(seconds, nbytes, True, min(1.0, nbytes / seconds / bandwidth))


def join(first: Transfer, second: Transfer) -> Transfer:
    """Return two transfers one after the other."""
    seconds = first.seconds + second.seconds
    load = (first.load * first.seconds + second.load * second.seconds) / seconds if seconds else 0.0
    return Transfer(seconds, first.nbytes + second.nbytes, first.scale_out or second.scale_out, load)
