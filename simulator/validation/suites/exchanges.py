"""Dispatch and combine of tokens to experts: DeepEP on one host or several, and the NVLink exchange of a rack."""

from __future__ import annotations

from typing import ClassVar

from simulator.engine.prices import dispatch
from simulator.machine.channel import Channel
from simulator.machine.collectives import experts
from simulator.machine.collectives.experts import Rows
from simulator.machine.hardware import Gpu
from simulator.units import Count, Number
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row
from simulator.validation.suites.collectives import network
from simulator.validation.suites.kernels import Answer, Kernels
from simulator.workload.routing import Routing

LIBRARIES = {
    "DeepEP normal": "deepep",
    "DeepEP low latency": "deepep-low-latency",
    "NVLinkTwoSided": "nvlink-two-sided",
    "NVLinkOneSided": "nvlink-one-sided",
}
COUNTS = "prepare"
"""The phase that sends counts ahead and no rows."""
SEPARATE = frozenset({"deepep-low-latency"})
"""Libraries that send a row once for each expert, also where several are on one rank."""
WIDTHS: dict[str, Number] = {"bf16": 2.0, "fp8": 1 + 4 / 128, "nvfp4": 0.5 + 1 / 16}
"""Bytes of an element with its share of the scales: fp32 for 128 of fp8, one byte for 16 of nvfp4."""


class Exchanges(Kernels):
    kind: ClassVar[str] = "exchanges"
    prefix: ClassVar[str] = "exchange"
    columns: ClassVar[frozenset[str]] = frozenset(
        {"gpu", "mode", "phase", "nodes", "gpus_per_node", "dtype", "tokens", "hidden", "top_k", "experts", "time_us"}
    )
    numbers: ClassVar[frozenset[str]] = frozenset(
        {"nodes", "gpus_per_node", "tokens", "hidden", "top_k", "experts", "sms", "time_us"}
    )

    def family(self, row: Row) -> str:
        return f"{row.text('gpu')}, {row.text('mode')}, {row.text('phase')}"

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        library = LIBRARIES.get(row.text("mode"))
        width = WIDTHS.get(row.text("dtype"))
        if library is None or width is None:
            raise InexpressibleError(f"there is no model of {row.text('mode')} in {row.text('dtype')}")
        kernel = experts.kernel(library, row.text("phase"), gpu.architecture)
        tokens, hidden = _number(row, "tokens"), _number(row, "hidden")
        routing = Routing(_count(row, "experts"), _count(row, "top_k"))
        channel = _channel(row, gpu)
        sent = 0.0 if row.text("phase") == COUNTS else hidden * width
        rows = _rows(library, routing, channel, tokens, sent)
        return Answer(*self.measurement(row), experts.seconds(kernel, rows, channel, gpu, row.real("sms") or 0.0) * 1e6)

    def size_class(self, row: Row) -> str:
        tokens = row.real("tokens") or 0.0
        size = "below 128 tokens" if tokens < 128 else "128 to 4095" if tokens < 4096 else "4096 and above"
        return f"{'one host' if row.whole('nodes') == 1 else 'several hosts'}, {size}"


def _rows(library: str, routing: Routing, channel: Channel, tokens: Number, row: Number) -> Rows:
    """Return what a rank sends: a row to each rank that holds an expert, or to each expert."""
    ranks, width = channel.ranks, channel.ranks_per_host
    if library in SEPARATE:
        sent = tokens * routing.active * row / ranks
        away = sent * (ranks - width)
        return Rows(tokens, routing.active, row, routing.experts, sent * (width - 1), away * width, channel.hosts - 1)
    each = dispatch.forwarded(routing, channel)
    held = max(1, routing.experts // ranks)
    # Where experts do not divide into ranks, those left over would make ranks that are not there.
    there = min(1.0, ranks * held / routing.experts)
    buffer = tokens * routing.active * row * there
    copies = routing.places(held) * there
    return Rows(tokens, copies, row, routing.experts, buffer * each.up, buffer * each.out, each.peers)


def _channel(row: Row, gpu: Gpu) -> Channel:
    nodes, each = _count(row, "nodes"), _count(row, "gpus_per_node")
    if nodes * each < 2:
        raise InexpressibleError("one GPU communicates with nobody")
    return network(gpu, each, nodes, None, None, row.text("network")).channel(nodes * each)


def _count(row: Row, name: str) -> Count:
    found = row.whole(name)
    if found is None:
        raise InexpressibleError(f"{name} is not stated")
    return found


def _number(row: Row, name: str) -> Number:
    found = row.real(name)
    if found is None:
        raise InexpressibleError(f"{name} is not stated")
    return found
