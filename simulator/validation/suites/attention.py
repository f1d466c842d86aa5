"""Attention kernels: rate by kernel, head size and sequence."""

from __future__ import annotations

from typing import ClassVar

from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row
from simulator.validation.suites.kernels import Answer, Kernels

IMPLEMENTATIONS = (
    ("FA1", "flash-1"),
    ("FA2", "flash-2"),
    ("FA3", "flash-3"),
    ("FA4", "flash-4"),
    ("cuDNN", "cudnn"),
    ("Triton", "triton"),
    ("PyTorch standard", "eager"),
)
PASSES = {"fwd": (False,), "bwd": (True,), "fwd+bwd": (False, True)}
LONG = 2048


class Attention(Kernels):
    kind: ClassVar[str] = "attention"
    prefix: ClassVar[str] = "attention"
    columns: ClassVar[frozenset[str]] = frozenset({"gpu", "impl", "head_dim", "causal", "seqlen", "tflops"})
    numbers: ClassVar[frozenset[str]] = frozenset({"head_dim", "seqlen", "batch", "heads", "tflops"})

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        batch, heads, sequence, size = (row.whole(name) for name in ("batch", "heads", "seqlen", "head_dim"))
        if batch is None or heads is None or sequence is None or size is None:
            raise InexpressibleError("batch, heads, sequence or head size is not stated")
        kernel = next((name for start, name in IMPLEMENTATIONS if row.text("impl").startswith(start)), None)
        if kernel is None:
            raise InexpressibleError(f"there is no model of the {row.text('impl')} kernel")
        if (passes := PASSES.get(row.text("pass_"))) is None:
            raise InexpressibleError(f"pass {row.text('pass_')!r} is not one of {', '.join(PASSES)}")
        causal = bool(row.flag("causal"))
        seconds = work = 0.0
        for backward in passes:
            seconds += attention.time(
                gpu,
                batch=batch,
                heads=heads,
                queries=sequence,
                keys=sequence,
                head_size=size,
                causal=causal,
                backward=backward,
                kernel=kernel,
                dtype=row.text("dtype"),
            )
            work += attention.flops(
                batch=batch,
                heads=heads,
                queries=sequence,
                keys=sequence,
                head_size=size,
                causal=causal,
                backward=backward,
            )
        return Answer(*self.measurement(row), work / seconds / 1e12)

    def measurement(self, row: Row) -> tuple[str, str, float | None]:
        return "tflops", "TFLOP/s", row.real("tflops")

    def size_class(self, row: Row) -> str:
        return f"s >= {LONG}" if (row.whole("seqlen") or 0) >= LONG else f"s < {LONG}"
