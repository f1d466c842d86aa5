"""Memory-bound kernels and host links: time by bytes moved, or the bandwidth that large copies reach."""

from __future__ import annotations

import re
from typing import ClassVar

from simulator.machine.hardware import HOST_LINK_EFFICIENCY, Gpu
from simulator.machine.kernels import elementwise
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row
from simulator.validation.suites.kernels import Answer, Kernels

LARGE = 2.0**26
STREAM = 2.0**30
"""Bytes of a copy that is all bandwidth."""
EAGER = re.compile(r"\[(huggingface|torch|megatron-unfused)\]")
HOST_LINK = re.compile(r"^(H2D|D2H)\b")


class MemoryBound(Kernels):
    kind: ClassVar[str] = "memory-bound"
    prefix: ClassVar[str] = "memory"
    columns: ClassVar[frozenset[str]] = frozenset({"gpu", "op", "bytes_moved", "achieved_gbs"})
    numbers: ClassVar[frozenset[str]] = frozenset({"bytes_moved", "time_us", "achieved_gbs"})

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        nbytes, fused = row.real("bytes_moved"), not EAGER.search(row.text("op"))
        measured = self.measurement(row)
        if HOST_LINK.match(row.text("op")):
            return Answer(*measured, HOST_LINK_EFFICIENCY * gpu.host_link / 1e9)
        if measured[0] == "achieved_gbs":
            return Answer(*measured, STREAM / elementwise.time(gpu, STREAM, fused=fused) / 1e9)
        if nbytes is None:
            raise InexpressibleError("the bytes that the kernel moves are not stated")
        return Answer(*measured, elementwise.time(gpu, nbytes, fused=fused) * 1e6)

    def measurement(self, row: Row) -> tuple[str, str, float | None]:
        if time := row.real("time_us"):
            return "time_us", "us", time
        return "achieved_gbs", "GB/s", row.real("achieved_gbs")

    def size_class(self, row: Row) -> str:
        return "64 MiB and above" if (row.real("bytes_moved") or STREAM) >= LARGE else "below 64 MiB"
