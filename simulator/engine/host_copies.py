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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from simulator.engine.durations import Durations
from simulator.engine.inputs import Inputs
from simulator.engine.stage_units import Unit
from simulator.engine.work import Piece
from simulator.machine.kernels import optimizer
from simulator.sums import added
from simulator.units import Bytes, Seconds, Share
from simulator.workload import activations, gathering, states
from simulator.workload.training import Offload


@dataclass(frozen=True)
class Shares:
    """Ranks that share out a parameter of each kind."""

    dense: int
    experts: int

    def of(self, dense: float, experts: float) -> float:
        return dense / self.dense + experts / self.experts


class HostCopies:
    def __init__(self, inputs: Inputs, durations: Durations) -> None:
        self.inputs = inputs
        self.gpu = durations.gpu
        self.host = inputs.host
        self.offload = inputs.training.offload or Offload()
        self.priced = "offload" not in durations.without and inputs.training.offload is not None
        self.width = states.widths(inputs.model, inputs.stack, inputs.training)
        self.shards = Shares(durations.channels["shard"].ranks, durations.channels["expert_data"].ranks)
        self.level = inputs.parallelism.shard.level

    def seconds(self, down: Bytes, up: Bytes) -> Seconds:
        """Return how long copies take that run at the same time on all GPUs of a host."""
        return max(max(down, up) / self.host.link, (down + up) / self.host.memory)

    def beside(self, unit: Unit, kept: Bytes = 0.0) -> Unit:
        """Return the unit with what its copies take longer than its compute; `kept` is what its backward needs."""
        if not self.priced:
            return unit
        moved = self.offload.activations * kept
        whole = Shares(1, 1) if self.level != "parameters" else self.shards
        weights = self.offload.parameters * self.width.weights * whole.of(unit.dense, unit.experts)
        again = weights
        if gathering.layer_by_layer(self.inputs.stack, self.inputs.parallelism):
            if not gathering.every_microbatch(self.inputs.stack, self.inputs.parallelism):
                weights, again = weights / self.inputs.microbatches, 0.0
            elif gathering.times(self.inputs.parallelism) == 1:
                again = 0.0
        forward, backward = self.seconds(moved, weights), self.seconds(0.0, moved + again)
        return replace(
            unit,
            forward=_at_least(unit.forward, forward),
            backward=_at_least(unit.backward, backward),
            input_gradient=_at_least(unit.input_gradient, backward),
        )

    def kept(self, experts: bool, recomputed: Share = 1.0) -> Bytes:
        """Return the bytes that one microbatch of a layer keeps, where this share of the layers is recomputed."""
        whole, short = self._kept[experts]
        return recomputed * short + (1 - recomputed) * whole

    @cached_property
    def _kept(self) -> dict[bool, tuple[Bytes, Bytes]]:
        inputs, recompute = self.inputs, self.inputs.training.recompute
        setting = activations.setting(inputs.model, inputs.stack, inputs.parallelism, inputs.training, inputs.capacity)
        return {
            experts: (
                added(activations.kept(setting, "none", (), experts).values()),
                added(activations.kept(setting, recompute.kind, recompute.modules, experts).values()),
            )
            for experts in ({True, False} if inputs.model.experts else {False})
        }

    def optimizer(self, dense: float, experts: float, backward: Seconds) -> Piece:
        """Return the optimizer step of a rank with these parameters, after a last backward of so many seconds.

        Gradients are read for their norm and for the update, states read and written, weights written.
        """
        width = self.width
        count = (self.shards if self.level != "none" else Shares(1, 1)).of(dense, experts)
        away = self.offload.optimizer
        nbytes = (1 - away) * count * (2 * width.gradients + 2 * width.optimizer + self._weights())
        here = optimizer.time(self.gpu, nbytes) if away < 1 else 0.0
        if not self.priced:
            return Piece(here, {"optimizer": here})
        gone = self._on_host(count, backward)
        return Piece(here + gone, {"optimizer": here, "offload": gone})

    def _weights(self) -> Bytes:
        """Return the bytes a parameter of weights that an update writes, and reads if they are their own master."""
        return self.width.weights * (2 if self.inputs.training.states.master == "none" else 1)

    def _on_host(self, count: float, backward: Seconds) -> Seconds:
        stack, width = self.inputs.stack, self.width
        away, weights = self.offload.optimizer, self.offload.parameters
        gradients = self.seconds(away * count * width.gradients, 0.0)
        touched = away * count * (width.gradients + 2 * (width.optimizer - width.extra_state) + self._weights())
        update = touched / (self.host.memory * stack.host_optimizer)
        # Updated weights go where they are kept: up from a host that updates them, down from a GPU that does.
        up, down = max(away - weights, 0.0) * width.compute, max(weights - away, 0.0) * width.weights
        copied = self.seconds(count * down, count * up)
        if stack.overlap_offload:
            return max(gradients - backward, 0.0) + max(update, copied)
        return gradients + update + copied


def _at_least(piece: Piece, seconds: Seconds) -> Piece:
    """Return a piece that takes `seconds` at least; what it waits is `offload`."""
    stall = seconds - piece.seconds
    return piece + Piece(stall, {"offload": stall}) if stall > 0 and piece.seconds > 0 else piece
