"""How long each operation takes on this machine with this software, alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from simulator.engine.inputs import Shared
from simulator.engine.streams import Item, Play, play
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention, elementwise, gemm
from simulator.units import Seconds
from simulator.workload.operations import Core, Exchange, Gemm, Operation, Program, Traffic, Work
from simulator.workload.stack import Stack

KINDS = {Gemm: "products", Core: "attention", Traffic: "elementwise"}
"""Terms of the physics that can be switched off, beside the axes of the mesh."""
IN_LAYERS = ("tensor", "context", "expert", "expert_tensor")
"""Axes over which layers, embedding and head exchange."""


class Durations:
    """Prices work: kernels by the GPU's constants, exchanges by the channel of their axis."""

    def __init__(
        self,
        gpu: Gpu,
        stack: Stack,
        channels: Mapping[str, Channel],
        algorithm: str = "auto",
        *,
        shared: Shared | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.gpu = gpu
        self.stack = stack
        self.channels = channels
        self.algorithm = algorithm
        self.shared = shared or Shared()
        self.without = frozenset(without)
        self._software = self.shared.rate("software", f"{stack.framework} {stack.year}", stack.framework)
        self._known: dict[Work, Seconds] = {}

    def of_layers(self) -> Durations:
        """Return the prices of what layers do, which all layouts share that differ in other axes."""
        channels = tuple(self.channels[name] for name in IN_LAYERS)
        return _of_layers(self.gpu, self.stack, channels, self.algorithm, self.shared, self.without)

    def over(self, channels: Mapping[str, Channel]) -> Durations:
        """Return the prices of the same machine with other channels."""
        without, algorithm = self.without, self.algorithm
        return Durations(self.gpu, self.stack, channels, algorithm, shared=self.shared, without=without)

    def seconds(self, work: Work) -> Seconds:
        """Return the time of `work` alone on the machine."""
        known = self._known.get(work)
        if known is None:
            known = self._known[work] = self._price(work)
        return known

    def _price(self, work: Work) -> Seconds:
        if isinstance(work, Exchange):
            return 0.0 if work.axis in self.without else self.exchange(work)
        if KINDS[type(work)] in self.without:
            return 0.0
        if isinstance(work, Gemm):
            m, n, k = (max(1, round(size)) for size in (work.m, work.n, work.k))
            alone = gemm.time(self.gpu, m, n, k, groups=work.groups, dtype=work.dtype, accumulate=work.accumulate)
            architecture = self.gpu.architecture
            rate = self.shared.rate("products", f"{architecture} {work.dtype}", architecture) * self.stack.gemm_factor
            if work.groups > 1:
                rate *= self.shared.rate("grouped", architecture)
            return work.kernels * alone / rate / self._software
        if isinstance(work, Traffic):
            alone = elementwise.time(self.gpu, work.nbytes, kernels=work.kernels)
            return alone / self.shared.rate("elementwise", "all") / self._software
        alone = attention.time(
            self.gpu,
            batch=work.batch,
            heads=work.heads,
            kv_heads=work.kv_heads,
            queries=work.queries,
            keys=work.keys,
            head_size=work.head_size,
            value_size=work.value_size,
            causal=work.causal,
            window=work.window,
            backward=work.backward,
            kernel=work.kernel,
            dtype=work.dtype,
        )
        rate = self.shared.rate("attention", self.gpu.architecture) * self.shared.rate("attention", work.kernel)
        return alone / rate / self._software

    def exchange(self, work: Exchange) -> Seconds:
        channel = self.channels[work.axis]
        alone = collectives.time(work.operation, work.to_hosts(channel.hosts), channel, self.algorithm)
        return alone / self.shared.rate("exchange", work.axis)

    def item(self, operation: Operation) -> Item:
        """Return an operation with its duration, for the streams."""
        work = operation.work
        seconds = operation.share * self.seconds(work)
        if isinstance(work, Exchange):
            return Item(work.axis, seconds, operation.waits, work.axis)
        return Item("compute", seconds, operation.waits, "recompute" if operation.recompute else "compute")

    def play(self, program: Program) -> Play:
        """Return how a program unfolds on its streams."""
        return play((self.item(operation) for operation in program), self.stack.communication_sms)


@lru_cache(maxsize=256)
def _of_layers(
    gpu: Gpu, stack: Stack, channels: tuple[Channel, ...], algorithm: str, shared: Shared, without: frozenset[str]
) -> Durations:
    among = dict(zip(IN_LAYERS, channels, strict=True))
    return Durations(gpu, stack, among, algorithm, shared=shared, without=without)
