"""What the data axis sends: gradients reduced, weights gathered, chunk by chunk or unit by unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simulator.engine.prices.durations import Durations
from simulator.engine.step.contention import NONE
from simulator.engine.step.pieces import COMPUTE, Item, Piece
from simulator.engine.step.transfers import NOTHING, Transfer, joined, scaled
from simulator.engine.step.work import Unit
from simulator.sums import added
from simulator.units import Bytes
from simulator.workload.operations import Exchange, Traffic
from simulator.workload.rank import Rank
from simulator.workload.stack import WIDTH
from simulator.workload.states import widths

COPIES = {"shard": "replicate", "expert_data": "expert_replicate"}
"""Axes over which state is shared out, each with that of its copies."""


class DataAxis:
    def __init__(self, rank: Rank, durations: Durations) -> None:
        self.rank = rank
        self.stack = rank.stack
        self.durations = durations
        self.level = rank.shard.level
        self.gradient = WIDTH[rank.stack.gradient_reduce]
        self.weight = self._weight_width()

    def _weight_width(self) -> Bytes:
        """Return bytes a weight on the wire; layers that gather for themselves gather what they compute with."""
        if self.stack.gather:
            return WIDTH[self.stack.gather]
        return widths(self.rank).compute if self.rank.layer_by_layer else WIDTH[self.rank.states.weights]

    @property
    def sharded(self) -> bool:
        """Whether weights are gathered unit by unit in every microbatch, and gradients reduced."""
        return self.durations.channels["shard"].ranks > 1 and self.rank.reduced

    def by_layer(self, layers: Sequence[Unit], tensors: int) -> tuple[tuple[Transfer, ...], tuple[Transfer, ...]]:
        """Return the reduction of the gradients and the gathering of the weights of each layer of a chunk.

        A chunk's go together, so that each layer has its share of them. Ranks that own whole tensors broadcast theirs
        one rank after the other; no more of them do than there are `tensors`.
        """
        dense, experts = added(one.dense for one in layers), added(one.experts for one in layers)
        whole = self._transfers(dense, "shard", tensors), self._transfers(experts, "expert_data", tensors)
        shares = [(one.dense / dense if dense else 0.0, one.experts / experts if experts else 0.0) for one in layers]
        found = []
        for kind in (0, 1):
            parts = [
                joined(sent[kind].part_of(share) for sent, share in zip(whole, both, strict=True)) for both in shares
            ]
            found.append(tuple(parts) if any(part.seconds for part in parts) else ())
        return found[0], found[1]

    def _transfers(self, count: float, axis: str, tensors: int) -> tuple[Transfer, Transfer]:
        """Return the reduction and the gathering of so many parameters."""
        bucket = self.stack.reduce_bucket
        if not count:
            return NOTHING, NOTHING
        operation = "all_reduce" if self.level == "none" else "reduce_scatter"
        reduce = self.transfer(Exchange(axis, operation, count * self.gradient), bucket)
        gather = NOTHING if self.level == "none" else self._gather(axis, count * self.weight, tensors)
        if across := self._across_replicas(axis, count):
            reduce = joined((reduce, self.transfer(across)))
        return reduce, gather

    def _gather(self, axis: str, nbytes: Bytes, tensors: int) -> Transfer:
        """Return the weights of a chunk on their way from the ranks that updated them to all."""
        if self.stack.shard_unit == "slice":
            return self.transfer(Exchange(axis, "all_gather", nbytes), self.stack.reduce_bucket)
        owners = min(self.durations.channels[axis].ranks, tensors)
        return self.transfer(Exchange(axis, "broadcast", nbytes), nbytes / owners)

    def _across_replicas(self, axis: str, count: float) -> Exchange | None:
        """Return the all-reduce of a rank's share of the gradients over the copies of HSDP, where there are some."""
        copies, channels = COPIES[axis], self.durations.channels
        if channels[copies].ranks == 1:
            return None
        shares = channels[axis].ranks if self.level != "none" else 1
        return Exchange(copies, "all_reduce", count * self.gradient / shares)

    def gathered(self, unit: Unit) -> Unit:
        """Return a unit whose weights are gathered ahead of its compute, and whose gradients are reduced after it.

        Around the flat buffers on the wire its tensors are copied, in and out.
        """
        stack, channels = self.stack, self.durations.channels
        count = unit.dense + (unit.experts if channels["expert_data"].ranks > 1 else 0.0)
        fixed = unit.frozen_dense + (unit.frozen_experts if channels["expert_data"].ranks > 1 else 0.0)
        gather = self._copy("copy in", (count * self.weight + fixed) * stack.gather_copies)
        scatter = self._copy("copy out", count * self.gradient * stack.scatter_copies)
        again = gather if self.rank.gathers > 1 else ()
        ahead = {"F": gather, "B": again, "I": again, "W": ()}
        behind = {"F": (), "B": scatter, "I": (), "W": scatter}
        sent = self._gathered(unit)
        return replace(
            unit,
            pieces={kind: (*ahead[kind[0]], *pieces, *behind[kind[0]]) for kind, pieces in unit.pieces.items()},
            gather=sent,
            gather_again=sent if self.rank.gathers > 1 else NOTHING,
            reduce=self._reduced(unit),
        )

    def _copy(self, name: str, nbytes: Bytes) -> tuple[Piece, ...]:
        seconds = self.durations.seconds(Traffic(nbytes)) if nbytes and "data" not in self.durations.without else 0.0
        return (Piece((Item(COMPUTE, seconds, part="data", name=name, memory=1.0),)),) if seconds else ()

    def _gathered(self, unit: Unit) -> Transfer:
        """Return the weights of one unit on their way to all, frozen ones as they are stored."""
        dense = unit.dense * self.weight + unit.frozen_dense
        experts = unit.experts * self.weight + unit.frozen_experts
        sent = ((dense, "shard"), (experts, "expert_data"))
        return joined(self.transfer(Exchange(axis, "all_gather", nbytes)) for nbytes, axis in sent if nbytes)

    def _reduced(self, unit: Unit) -> Transfer:
        """Return the reduction of one unit's gradients, one exchange after the other."""
        exchanges = []
        for count, axis in ((unit.dense, "shard"), (unit.experts, "expert_data")):
            if count:
                exchanges.append(Exchange(axis, "reduce_scatter", count * self.gradient))
                if across := self._across_replicas(axis, count):
                    exchanges.append(across)
        return joined(map(self.transfer, exchanges))

    def transfer(self, exchange: Exchange, bucket: Bytes = 0.0) -> Transfer:
        """Return an exchange as a transfer that may share its links with others, cut into buckets if they are given."""
        durations = self.durations
        pieces = max(1.0, exchange.nbytes / bucket) if bucket else 1.0
        one = exchange._replace(nbytes=exchange.nbytes / pieces)
        seconds = pieces * durations.seconds(one)
        if seconds <= 0:
            return NOTHING
        loads, payload = durations.loads(one)
        part = "pipeline" if exchange.axis == "pipeline" else "data"
        takes = durations.taken(one) if part == "data" else NONE
        return Transfer(part, seconds, scaled(payload, pieces), loads, takes)
