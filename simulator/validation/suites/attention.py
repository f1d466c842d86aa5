"""Attention kernels: rate by kernel, head size and sequence."""

from __future__ import annotations

from typing import Any, ClassVar

from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention, attention_serving
from simulator.machine.kernels.attention import Shape
from simulator.units import Seconds
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
    ("trtllm-gen", "trtllm-gen"),
    ("TensorRT-LLM MLA", "trtllm-mla"),
    ("TensorRT-LLM FMHA", "trtllm"),
)
LABELLED = "flash_attn_fa4"
"""End of a label that is more exact than the name: an engine whose kernel is another one for encoders."""
GENERATED = ("trtllm", "trtllm-gen")
"""TensorRT-LLM runs its generated kernels where they exist: on Blackwell."""
REGIMES = {"": True, "burst": True, "sustained": False}
"""Whether a time is that of a burst, by the column `regime`; benchmarks that say nothing are short."""
PASSES = {"fwd": (False,), "bwd": (True,), "fwd+bwd": (False, True)}
LONG = 2048


def implementation(name: str, label: str, gpu: Gpu) -> str | None:
    """Return the kernel that a table calls `name` on `gpu`, and its source `label`; None is one without a model."""
    kernel = next((kernel for start, kernel in IMPLEMENTATIONS if name.startswith(start)), None)
    if label.endswith(LABELLED):
        return "flash-4"
    asked, generated = GENERATED
    return generated if kernel == asked and generated in gpu.kernels.attention else kernel


class Attention(Kernels):
    kind: ClassVar[str] = "attention"
    prefix: ClassVar[str] = "attention"
    columns: ClassVar[frozenset[str]] = frozenset({"gpu", "impl", "head_dim", "causal", "seqlen", "tflops"})
    numbers: ClassVar[frozenset[str]] = frozenset(
        {"head_dim", "v_head_dim", "seqlen", "batch", "heads", "kv_heads", "window", "tflops", "time_us"}
    )
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"window"})

    def answer(self, row: Row, gpu: Gpu) -> Answer:
        shape = _shape(row)
        kernel = implementation(row.text("impl"), row.text("kernel"), gpu)
        if kernel is None:
            raise InexpressibleError(f"there is no model of the {row.text('impl')} kernel")
        if (passes := PASSES.get(row.text("pass_"))) is None:
            raise InexpressibleError(f"pass {row.text('pass_')!r} is not one of {', '.join(PASSES)}")
        if (regime := row.text("regime")) not in REGIMES:
            raise InexpressibleError(f"regime {regime!r} is not one of {', '.join(filter(None, REGIMES))}")
        includes, dtype = row.text("includes"), row.text("dtype")
        how: dict[str, Any] = {"kernel": kernel, "dtype": dtype, "burst": REGIMES[regime], "serving": bool(includes)}
        seconds = sum(attention.time(gpu, **shape._asdict(), **how, backward=backward) for backward in passes)
        seconds += _around(gpu, shape, kernel, dtype, includes)
        counted = shape._asdict()
        del counted["kv_heads"], counted["piece"]
        work = sum(attention.flops(**counted, backward=backward) for backward in passes)
        return Answer(*self.measurement(row), work / seconds / 1e12)

    def measurement(self, row: Row) -> tuple[str, str, float | None]:
        return "tflops", "TFLOP/s", row.real("tflops")

    def size_class(self, row: Row) -> str:
        return f"s >= {LONG}" if (row.whole("seqlen") or 0) >= LONG else f"s < {LONG}"


def _shape(row: Row) -> Shape:
    """Return what a row computes attention of."""
    sizes = [row.whole(name) for name in ("batch", "heads", "seqlen", "head_dim")]
    batch, heads, sequence, size = (each or 0 for each in sizes)
    if not all(sizes):
        raise InexpressibleError("batch, heads, sequence or head size is not stated")
    values, kv, window = row.whole("v_head_dim") or size, row.whole("kv_heads") or heads, row.whole("window") or 0
    seen = window if 0 < window < sequence else None
    return Shape(batch, heads, kv, sequence, sequence, size, values, bool(row.flag("causal")), window=seen)


def _around(gpu: Gpu, shape: Shape, kernel: str, dtype: str, includes: str) -> Seconds:
    """Return the time of what a serving engine does around the kernel, as far as the measured time includes it."""
    sizes = shape._asdict()
    tokens = shape.batch * shape.queries
    moved = attention_serving.nbytes(
        includes, tokens=tokens, **{name: sizes[name] for name in ("heads", "kv_heads", "head_size", "value_size")}
    )
    return attention_serving.time(gpu, attention.constants(gpu, kernel, dtype).serving, moved) if moved else 0.0
