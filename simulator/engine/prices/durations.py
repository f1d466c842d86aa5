"""How long each operation takes on this machine with this software, alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from simulator.engine.prices import dispatch
from simulator.engine.prices.constants import Shared, of_products
from simulator.engine.step.contention import NONE, Taken
from simulator.engine.step.pieces import COMPUTE, HOST, Item, Piece
from simulator.engine.step.transfers import SCALE_OUT, SCALE_UP, Loads, Payload, Way, scaled
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention, elementwise, gemm
from simulator.machine.traffic import Pattern
from simulator.units import Bytes, BytesPerSecond, Seconds, Share
from simulator.workload.operations import Core, Exchange, Gemm, Operation, Program, Traffic, Work
from simulator.workload.stack import Stack

KINDS = {Gemm: "products", Core: "attention", Traffic: "elementwise"}
"""Terms of the physics that can be switched off, beside the axes of the mesh."""
IN_LAYERS = ("tensor", "context", "context_heads", "context_tokens", "expert", "expert_tensor")
"""Axes over which layers, embedding and head exchange."""
STREAMS = {"context_heads": "context", "context_tokens": "context"}
"""The stream and the account of axes that are parts of another."""
MEMORY_PASSES = 3
"""Passes over GPU memory of each byte that a GPU sends in a collective of NCCL: what the rank before has written into
the buffer is read, and written to where it goes or read together with what is added to it (NVIDIA/nccl,
src/device/all_gather.h and reduce_scatter.h: directRecvCopyDirectSend, recvReduceSend)."""


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
        self._loads: dict[Exchange, tuple[Loads, Payload]] = {}

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
            rate = self.shared.rate("products", *of_products(architecture, work.dtype)) * self.stack.gemm_factor
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
            piece=work.piece,
            window=work.window,
            backward=work.backward,
            kernel=work.kernel,
            dtype=work.dtype,
        )
        rate = self.shared.rate("attention", self.gpu.architecture) * self.shared.rate("attention", work.kernel)
        return alone / rate / self._software

    def exchange(self, work: Exchange) -> Seconds:
        """Return the time of a collective, never less than its bytes take at line rate."""
        channel = self.channels[work.axis]
        if channel.ranks <= 1:
            return 0.0
        if work.routing is None:
            alone = collectives.time(work.operation, work.nbytes, channel, self.algorithm)
        else:
            sms = self.stack.communication_sms * self.gpu.sms
            alone = dispatch.seconds(work, work.routing, channel, self.gpu, sms)
        up, out = self._sent(work, channel)
        line = max(up / channel.scale_up_bandwidth, out / _width(work, channel))
        return max(alone / self.shared.rate("exchange", STREAMS.get(work.axis, work.axis)), line)

    def loads(self, work: Exchange) -> tuple[Loads, Payload]:
        """Return the share of each link that an exchange fills while it runs alone, and what a GPU sends."""
        channel, seconds = self.channels[work.axis], self.seconds(work)
        if channel.ranks <= 1 or seconds <= 0:
            return (), ()
        if work not in self._loads:
            self._loads[work] = self._load(work, channel, seconds)
        return self._loads[work]

    def _load(self, work: Exchange, channel: Channel, seconds: Seconds) -> tuple[Loads, Payload]:
        up, out = self._sent(work, channel)
        loads = [("scale-up", up / seconds / channel.scale_up_bandwidth)]
        for tier, share in channel.exchange_tiers if _exchanges(work) else channel.tiers:
            load = share * out / seconds / _width(work, channel)
            loads += [(f"{tier} out", load), (f"{tier} in", load)]
        pattern: Pattern = "exchange" if _exchanges(work) else "ring"
        payload = (Way(work.axis, pattern, SCALE_UP), up), (Way(work.axis, pattern, SCALE_OUT), out)
        return tuple(one for one in loads if one[1] > 0), tuple(one for one in payload if one[1] > 0)

    def _sent(self, work: Exchange, channel: Channel) -> tuple[Bytes, Bytes]:
        """Return what a GPU sends over its scale-up links, and through its share of the NICs."""
        if work.routing is not None:
            sent = dispatch.forwarded(work.routing, channel)
            return work.nbytes * sent.up, work.nbytes * sent.out / channel.ranks_per_host
        up = collectives.scale_up_bytes(work.operation, work.nbytes, channel, self.algorithm)
        return up, collectives.wire_bytes(work.operation, work.nbytes, channel, self.algorithm)

    def taken(self, work: Exchange) -> Taken:
        """Return what an exchange takes of the GPU while it runs alone, from compute beside it."""
        channel, seconds = self.channels[work.axis], self.seconds(work)
        if channel.ranks <= 1 or seconds <= 0:
            return NONE
        moved = MEMORY_PASSES * max(self._sent(work, channel)) / seconds
        return Taken(self.stack.communication_sms, moved / self.gpu.memory_bandwidth)

    def bound_by_memory(self, work: Gemm | Core | Traffic) -> Share:
        """Return the share of an operation's time that is bound by memory."""
        if isinstance(work, Traffic):
            return 1.0
        if isinstance(work, Core):
            return attention.bound_by_memory(
                self.gpu,
                batch=work.batch,
                heads=work.heads,
                queries=work.queries,
                keys=work.keys,
                head_size=work.head_size,
                value_size=work.value_size,
                causal=work.causal,
                backward=work.backward,
                kernel=work.kernel,
                dtype=work.dtype,
            )
        m, n, k = (max(1, round(size)) for size in (work.m, work.n, work.k))
        return gemm.bound_by_memory(self.gpu, m, n, k, groups=work.groups, dtype=work.dtype, accumulate=work.accumulate)

    def piece(self, program: Program, host: Seconds = 0.0) -> Piece:
        """Return a program as a piece that takes the host so long to launch."""
        items = [self._item(operation) for operation in program]
        if host and items:
            # The host begins with the piece, so that its stream comes first; places of other items move by one.
            items = [Item(HOST, host, name="launch"), *(_moved(item) for item in items)]
        return Piece(tuple(items))

    def _item(self, operation: Operation) -> Item:
        work, share = operation.work, operation.share
        seconds = share * self.seconds(work)
        if not isinstance(work, Exchange):
            part = "recompute" if operation.recompute else "compute"
            memory = self.bound_by_memory(work)
            return Item(COMPUTE, seconds, operation.waits, part, name=operation.name, memory=memory)
        taken = self.taken(work)
        loads, payload = self.loads(work)
        payload = payload if share == 1 else scaled(payload, share)
        stream = STREAMS.get(work.axis, work.axis)
        return Item(stream, seconds, operation.waits, stream, taken, loads, payload, operation.name)


def _exchanges(work: Exchange) -> bool:
    return work.operation == "all_to_all"


def _width(work: Exchange, channel: Channel) -> BytesPerSecond:
    """Return what the network leaves each GPU of a group."""
    whole = channel.exchange_bandwidth if _exchanges(work) else channel.scale_out_bandwidth
    return whole / channel.ranks_per_host


def _moved(item: Item) -> Item:
    return item._replace(waits=tuple(place + 1 for place in item.waits))


@lru_cache(maxsize=256)
def _of_layers(
    gpu: Gpu, stack: Stack, channels: tuple[Channel, ...], algorithm: str, shared: Shared, without: frozenset[str]
) -> Durations:
    among = dict(zip(IN_LAYERS, channels, strict=True))
    return Durations(gpu, stack, among, algorithm, shared=shared, without=without)
