"""What comes and goes between GPU and host beside compute, and the optimizer that runs on the host.

A GPU's copies run both ways at once, each way at what its link to the host delivers, as long as all GPUs of the host
ask its memory for no more than it has: copies take

    max(down / link, up / link, (down + up) / share of the host's memory bandwidth)

What a layer keeps goes down beside its forward and comes up beside its backward. Weights come up beside each forward,
and each backward where they are not kept (ZeRO-Infinity, Rajbhandari et al. 2021, arXiv 2104.07857). A layer takes the
longer of its compute and its copies; what is longer is `offload`. An optimizer on the host gets the gradients, reads
and writes its state at its share of the host's memory bandwidth, and sends the weights up. ZeRO-Offload (Ren et al.
2021, arXiv 2101.06840) sends gradients beside the backward and weights while it works (`overlap_offload`), others one
after the other.

How fast that is depends on what users rarely write down: whether ranks are bound to cores, and whether copies are of
page-locked memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simulator.engine.prices.durations import Durations
from simulator.engine.prices.stage_units import LAYER_CALLS
from simulator.engine.step.commands import Compute
from simulator.engine.step.local_clock import alone
from simulator.engine.step.pieces import COMPUTE, Item, Piece
from simulator.engine.step.transfers import Transfer
from simulator.engine.step.work import Unit
from simulator.machine.kernels import optimizer
from simulator.sums import added
from simulator.units import Bytes, BytesPerSecond, Seconds, Share
from simulator.workload import layer, states
from simulator.workload.blocks.base import Blocks
from simulator.workload.matrices import Matrices
from simulator.workload.operations import Exchange
from simulator.workload.optimizers.base import Products
from simulator.workload.parameters import Parameters
from simulator.workload.rank_matrices import owners
from simulator.workload.replica import Replica
from simulator.workload.stack import WIDTH
from simulator.workload.training import Offload

UNBOUND: Share = 0.75
"""Rate of an optimizer whose threads run on any core over that of one bound to cores. Its pages lie where they were
first written, so that ranks use the memory of one to all sockets: three quarters of two in the mean. Binding alone took
a step of Qwen2.5-3B from 3.08 to 2.38 s (DeepSpeed #7474), 0.76 of what is not the GPU's."""
PAGEABLE: Share = 1 / 4.5
"""Rate of copies of pageable memory over that of page-locked memory, with eight GPUs copying at once (page-locking made
them 4 to 5 times as fast, 6 times on one GPU: DeepSpeed #5301)."""


@dataclass(frozen=True)
class HostSide:
    """What a host gives one of its GPUs while all of them use it."""

    link: BytesPerSecond
    """Delivered, per direction."""
    memory: BytesPerSecond
    """Share of the host's memory bandwidth."""


@dataclass(frozen=True)
class Shares:
    """Ranks that share out a parameter of each kind."""

    dense: int
    experts: int

    def of(self, dense: float, experts: float) -> float:
        return dense / self.dense + experts / self.experts


class HostCopies:
    def __init__(self, replica: Replica, durations: Durations, host: HostSide) -> None:
        self.replica = replica
        self.rank = replica.rank
        self.durations = durations
        self.host = host
        self.offload = replica.offload or Offload()
        self.priced = "offload" not in durations.without and replica.offload is not None
        self.width = states.widths(self.rank)
        self.shards = Shares(durations.channels["shard"].ranks, durations.channels["expert_data"].ranks)
        self.level = self.rank.shard.level

    def seconds(self, down: Bytes, up: Bytes) -> Seconds:
        """Return how long copies take that run at the same time on all GPUs of a host."""
        link = self.host.link * (1.0 if self.rank.stack.pinned_copies else PAGEABLE)
        return max(max(down, up) / link, (down + up) / self.host.memory)

    def beside(self, unit: Unit, kept: Bytes = 0.0) -> Unit:
        """Return the unit with what its copies take longer than its compute; `kept` is what its backward needs."""
        if not self.priced:
            return unit
        moved = self.offload.activations * kept
        whole = Shares(1, 1) if self.level != "parameters" else self.shards
        weights = self.offload.parameters * self.width.weights * whole.of(unit.dense, unit.experts)
        weights += self.offload.parameters * whole.of(unit.frozen_dense, unit.frozen_experts)
        again = weights
        if self.rank.layer_by_layer:
            if not self.rank.reduced:
                weights, again = weights / self.replica.microbatches, 0.0
            elif self.rank.gathers == 1:
                again = 0.0
        forward, backward = self.seconds(moved, weights), self.seconds(0.0, moved + again)
        times = {"F": forward, "B": backward, "I": backward}
        if not self.rank.stack.pinned_copies:
            return replace(unit, pieces={kind: (*_waiting(times, kind), *those) for kind, those in unit.pieces.items()})
        copies = {
            kind: Transfer("offload", times[kind[0]], loads=(("host link", 1.0),))
            for kind, pieces in unit.pieces.items()
            if times.get(kind[0], 0.0) > 0 and any(alone(piece).seconds for piece in pieces)
        }
        return replace(unit, copies=copies)

    def kept(self, blocks: Blocks, recomputed: Share = 1.0) -> Bytes:
        """Return the bytes that one microbatch of a layer keeps, where this share of the layers is recomputed."""
        if not self.priced:
            return 0.0
        rank = self.rank.inside
        whole, short = layer.kept_bytes(rank, blocks), layer.kept_bytes(rank, blocks, self.replica.recompute)
        return recomputed * short + (1 - recomputed) * whole

    def optimizer(self, held: Parameters, matrices: Matrices, backward: Seconds) -> tuple[Compute, ...]:
        """Return the optimizer step of a rank with these parameters, after a last backward of so many seconds.

        Products of whole matrices are made on the GPU wherever the state is kept.
        """
        products = self.rank.optimizer.on_matrices(matrices, owners(self.rank))
        here = self._here(held, products)
        if not self.priced:
            return (here,)
        return here, Compute(self._on_host(self._updated(held), backward), "offload", "optimizer on the host")

    def _here(self, held: Parameters, products: Products) -> Compute:
        """Return what is done on the GPU of a rank with these parameters; products wait for the host to launch them."""
        durations, work, seconds = self.durations, products.work, 0.0
        launched = products.calls * self.rank.stack.cpu_layer / LAYER_CALLS if "host" not in durations.without else 0.0
        if self.offload.optimizer < 1:
            count = (1 - self.offload.optimizer) * self._updated(held)
            update = self.rank.optimizer.update(self.rank.model, count, self.width)
            work = *update.work, *products.work
            seconds = optimizer.time(durations.gpu, update.nbytes) + added(map(durations.seconds, update.work))
        seconds += max(added(map(durations.seconds, products.work)), launched)
        exchanges = (one for one in work if isinstance(one, Exchange))
        payload = tuple(entry for exchange in exchanges for entry in durations.loads(exchange)[1])
        return Compute(seconds, "optimizer", "optimizer", payload=payload)

    def _updated(self, held: Parameters) -> float:
        """Return the parameters that a rank updates."""
        return (self.shards if self.level != "none" else Shares(1, 1)).of(*held)

    def _on_host(self, count: float, backward: Seconds) -> Seconds:
        stack, width = self.rank.stack, self.width
        away, weights = self.offload.optimizer, self.offload.parameters
        # A rank that keeps its share of the gradients alone adds each microbatch to it on the GPU, and sends it back.
        earlier = self.replica.microbatches - 1 if self.rank.keeps_gradient_shard else 0
        # What is flattened for the update stays on the GPU; the host gets fp32 copies where the optimizer makes them.
        copied_in_fp32 = min(width.copies, WIDTH["fp32"])
        before, last = earlier * width.gradients, max(width.gradients, copied_in_fp32)
        gradients = self.seconds(away * count * (before + last), away * count * before)
        touched = away * count * (width.gradients + 2 * (width.optimizer + copied_in_fp32) + width.updated)
        update = touched / (self.host.memory * stack.host_optimizer * (1.0 if stack.bound_cores else UNBOUND))
        # Updated weights go where they are kept: up from a host that updates them, down from a GPU that does.
        up, down = max(away - weights, 0.0) * width.compute, max(weights - away, 0.0) * width.weights
        copied = self.seconds(count * down, count * up)
        if stack.overlap_offload and stack.pinned_copies:
            return max(gradients - (1 + earlier) * backward, 0.0) + max(update, copied)
        return gradients + update + copied


def _waiting(times: Mapping[str, Seconds], kind: str) -> tuple[Piece, ...]:
    """Return the copies of pageable memory ahead of a unit: the host waits for each, and launches nothing meanwhile."""
    seconds = times.get(kind, 0.0)
    return (Piece((Item(COMPUTE, seconds, part="offload", name="copies"),)),) if seconds > 0 else ()
