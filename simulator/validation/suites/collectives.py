"""Collectives as nccl-tests prints them: time or bus bandwidth by size, on one host or many."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, NamedTuple

from simulator import units
from simulator.errors import ForetrainError
from simulator.machine import collectives, hardware
from simulator.machine.channel import Channel
from simulator.machine.collectives.base import Operation, bus_factor
from simulator.machine.hardware import Gpu, Host, ScaleUp
from simulator.machine.network import Network
from simulator.units import Bytes
from simulator.validation import rigs
from simulator.validation.expression import InexpressibleError
from simulator.validation.lines import Reported
from simulator.validation.row import Row
from simulator.validation.suites.kernels import Answer, Kernels, gpu_of
from topologies.fat_tree import FatTree

OPERATIONS: dict[str, Operation] = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
    "broadcast": "broadcast",
    "sendrecv": "send",
    "p2p_copy": "send",
}
ALGORITHMS = {
    "Ring": "ring",
    "Ring (NVLS off)": "ring",
    "NVLS": "nvls",
    "NVLSTree": "nvls-tree",
    "Tree": "tree",
    "CollNet/SHARP": "in-network",
}
UNADDED = frozenset({"int8", "uint8"})
"""Formats that NVLink SHARP does not add, so that rings do (NVIDIA/nccl, src/include/device.h, ncclNvlsSupported)."""
PCIE_ONLY = "PCIe only"
SHARED = "PCIe shared"
"""Kind of the links of cards without peer access that share one path (``links.yaml``)."""
CARDS = re.compile(r"([0-9]{1,9})x([0-9]{1,9})\s?G(?:b|bps|b/s)?\b")
PEAK = "peak (large)"
LARGE = 2.0**34
"""Bytes of a message that is all bandwidth."""
NIC = 50e9
MIB = 2.0**20
LARGEST = "512 MiB and above"
SIZES = ((MIB, "below 1 MiB"), (32 * MIB, "1 to 32 MiB"), (512 * MIB, "32 to 512 MiB"))


class Collectives(Kernels):
    kind: ClassVar[str] = "collectives"
    prefix: ClassVar[str] = "collective"
    columns: ClassVar[frozenset[str]] = frozenset({"gpu", "nodes", "gpus", "collective", "bytes", "busbw_gbs"})
    numbers: ClassVar[frozenset[str]] = frozenset({"nodes", "gpus", "time_us", "busbw_gbs"})
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"busbw_gbs"})

    def __init__(self, adapted: Callable[[Row, Channel], Channel] | None = None) -> None:
        self._adapted = adapted
        """What a row's channel is changed to before it is used, such as other constants of its links."""

    def family(self, row: Row) -> str:
        nodes, gpus = row.whole("nodes"), row.whole("gpus")
        rig = f"{nodes} x {gpus // nodes}" if nodes and gpus else row.text("network")
        return f"{row.text('gpu')}, {rig}, {row.text('collective')}"

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        asked = question(row, gpu)
        channel = self._adapted(row, asked.channel) if self._adapted else asked.channel
        seconds = collectives.time(asked.operation, asked.nbytes, channel, asked.algorithm)
        measured = self.measurement(row)
        if measured[0] == "busbw_gbs":
            return Answer(*measured, asked.nbytes * bus_factor(asked.operation, channel.ranks) / seconds / 1e9)
        return Answer(*measured, seconds * 1e6)

    def measurement(self, row: Row) -> tuple[str, str, float | None]:
        if (time := row.real("time_us")) and row.text("bytes") != PEAK:
            return "time_us", "us", time
        return "busbw_gbs", "GB/s", row.real("busbw_gbs")

    def size_class(self, row: Row) -> str:
        nbytes = size(row)
        if nbytes is None:
            return ""
        place = "one host" if row.whole("nodes") == 1 else "many hosts"
        return f"{place}, {next((name for limit, name in SIZES if nbytes < limit), LARGEST)}"

    def reported(self, row: Row) -> Reported | None:
        """Return what the source says of which setting, in bus bandwidth."""
        try:
            asked = question(row, gpu_of(row))
        except (InexpressibleError, ForetrainError, KeyError):
            return None
        channel = asked.channel
        hosts = f"{channel.hosts} x " if channel.hosts > 1 else ""
        rig = f"{hosts}{channel.ranks_per_host} GPUs on {channel.fabric} ({channel.scale_up_bandwidth / 1e9:g} GB/s)"
        way = row.text("collective") + ("" if asked.algorithm == "auto" else f" by {asked.algorithm}")
        setting = f"{rig}, {way}, {asked.nbytes / MIB:g} MiB"
        moved = asked.nbytes * bus_factor(asked.operation, channel.ranks)
        time = row.real("time_us")
        rate = moved / time * 1e6 if time and row.text("bytes") != PEAK else 1e9 * (row.real("busbw_gbs") or 0.0)
        return Reported(setting, source(row), rate) if rate else None


class Question(NamedTuple):
    """What a row asks of the model."""

    operation: Operation
    nbytes: Bytes
    channel: Channel
    algorithm: str


def question(row: Row, gpu: Gpu) -> Question:
    """Return what the row asks; raise InexpressibleError with the reason why it cannot be."""
    operation = OPERATIONS.get(row.text("collective"))
    if operation is None:
        raise InexpressibleError(f"there is no model of {row.text('collective')}")
    nbytes = size(row)
    if nbytes is None:
        raise InexpressibleError("the size is not a number of bytes")
    asked = ALGORITHMS.get(row.text("algo"), "auto")
    if operation == "all_reduce" and row.text("dtype") in UNADDED:
        asked = "ring"
    algorithm = asked if asked in collectives.algorithms() else "auto"
    return Question(operation, nbytes, _channel(row, gpu, operation), algorithm)


def source(row: Row) -> str:
    """Return who measured: a repository without its version, or the first words of a reference.

    >>> source(Row(line=1, texts={"source": "github:a/b@1f2e network/README.md"}, numbers={}))
    'github:a/b'
    """
    words = row.text("source").split()
    return " ".join(words[: 1 if words and words[0].startswith("github:") else 2]).partition("@")[0]


def size(row: Row) -> float | None:
    """Return the bytes of the buffer; a very large one where the row gives the bandwidth that messages tend to."""
    text = row.text("bytes")
    if text == PEAK or (not text and row.real("busbw_gbs")):
        return LARGE
    return float(text) if re.fullmatch(r"[0-9]{1,30}(\.[0-9]{1,30})?", text) and float(text) > 0 else None


def _channel(row: Row, gpu: Gpu, operation: Operation) -> Channel:
    nodes, gpus = row.whole("nodes"), row.whole("gpus")
    if nodes is None or gpus is None or gpus % nodes:
        raise InexpressibleError("the numbers of hosts and of GPUs a host are not stated")
    if gpus < 2:
        raise InexpressibleError("one GPU communicates with nobody")
    cards = CARDS.search(row.text("network"))
    nics, rate = (int(cards[1]), float(cards[2])) if cards else (None, None)
    found = network(_as_joined(gpu, row.text("network")), gpus // nodes, nodes, nics, rate, row.text("network"))
    if operation != "send":
        return found.channel(gpus)
    return found.channel(2, 1 if nodes == 1 else gpus // nodes)


@lru_cache(maxsize=256)
def network(gpu: Gpu, size: int, nodes: int, nics: int | None, rate: float | None, name: str) -> Network:
    """Return the network of a host of the catalog with this GPU, changed to what a row says."""
    numbers = {"gpus_per_node": size, "nics": nics, "nic_gbps": rate}
    row = Row(
        line=0,
        texts={"network": name},
        numbers={name: float(value) for name, value in numbers.items() if value is not None},
    )
    near = rigs.nearest(gpu.name, row)
    host = hardware.host(near.name) if near else _plain(gpu, size)
    cards = {"nics": nics, "nic_bandwidth": units.parse(f"{rate:g}Gbps", "B/s")} if nics and rate else {}
    return Network(replace(host, gpus=size, **cards), nodes, FatTree())  # type: ignore[arg-type]


def _as_joined(gpu: Gpu, network: str) -> Gpu:
    """Return the GPU with the links that the row says it has: PCIe and nothing else is taken for one shared path."""
    return replace(gpu, scale_up_kind=SHARED) if network == PCIE_ONLY else gpu


def _plain(gpu: Gpu, size: int) -> Host:
    """Return a host of the GPU for a catalog that has none; its NICs matter only where the row names none either."""
    return Host(
        gpu=gpu,
        gpus=size,
        scale_up=ScaleUp(domain=size, bandwidth=0.0 if gpu.scale_up_kind == SHARED else gpu.scale_up),
        nics=size,
        nic_bandwidth=NIC,
    )
