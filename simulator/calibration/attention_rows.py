"""Rows of tables of attention rates, and what each computes before any measured constant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from simulator import catalog
from simulator.calibration import kernels
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention, attention_serving
from simulator.machine.kernels.attention import Shape
from simulator.machine.kernels.attention_flash import Chip, Work, padded
from simulator.machine.kernels.attention_grid import Grid
from simulator.machine.kernels.constants import overlaid
from simulator.sums import added
from simulator.units import Bytes, Count, Seconds, Share
from simulator.validation.suites.attention import PASSES, implementation

LEAST_WATTS = {"hopper": 1.2, "blackwell": 1.85}
"""TFLOP/s per watt above which a sustained row of 2,048 tokens or more is left out. Equal shapes come in two speeds,
and the faster one draws half of the power (ai-dynamo/aiconfigurator@095f58a): presumably its memory held no data."""
LONG = 2048


class Timing(NamedTuple):
    """One measured point: the time of one or both passes."""

    gpu: str
    kernel: str
    dtype: str
    shape: Shape
    passes: tuple[bool, ...]
    burst: bool
    serving: bool
    extra: Bytes
    """Bytes that serving engines move around the kernel."""
    seconds: Seconds

    @property
    def key(self) -> tuple[str, str, str]:
        """Architecture, kernel and precision: what has constants of its own."""
        architecture = hardware.gpu(self.gpu).architecture
        known = hardware.gpu(self.gpu).kernels.attention[self.kernel]
        return architecture, self.kernel, self.dtype if self.dtype in known else "bf16"

    @property
    def mask(self) -> str:
        """The mask under which the kernel runs."""
        return self.shape.mask

    @property
    def size(self) -> Count:
        """The head size that is computed."""
        return max(padded(self.shape.head_size), padded(self.shape.value_size))

    def time(self, gpu: Gpu) -> Seconds:
        """Return the time on `gpu` by the constants it has."""
        shape = self.shape._asdict()
        more: dict[str, Any] = {
            "kernel": self.kernel,
            "dtype": self.dtype,
            "burst": self.burst,
            "serving": self.serving,
        }
        return added(attention.time.__wrapped__(gpu, **shape, **more, backward=back) for back in self.passes)


class Pass(NamedTuple):
    """One pass of a row, ready for constants."""

    gpu: Gpu
    chip: Chip
    grid: Grid
    work: Work
    shape: Shape
    backward: bool
    burst: bool
    power: Share
    """Threshold of the clock on this GPU over that of its architecture."""
    extra: Bytes


def read(path: Path, *, half: int | None = None) -> list[Timing]:
    """Return the rows of a table that can be fitted; only every other shape, by a hash, where `half` is 0 or 1."""
    rows = [row for row in kernels.table(path) if _usable(row)]
    return [_timing(row) for row in rows if half is None or _hash(row) % 2 == half]


def prepared(rows: Iterable[Timing]) -> list[Sequence[Pass]]:
    """Return the passes of each row, with what they compute."""
    return [[_pass(row, backward) for backward in row.passes] for row in rows]


def _pass(row: Timing, backward: bool) -> Pass:
    gpu = hardware.gpu(row.gpu)
    chip, grid, work = attention.plan(gpu, row.shape, row.kernel, row.dtype, backward=backward, serving=row.serving)
    stated = gpu.kernels.attention[row.kernel][row.key[2]].threshold
    architecture, kernel, dtype = row.key
    entry = catalog.entry("calibration", "attention")
    default = entry["default"]["kernels"].get(kernel, {})
    own = entry["architectures"][architecture].get("kernels", {}).get(kernel, {})
    values = overlaid(default, own)[dtype]
    power = stated / float(values["threshold"])
    extra = 0.0 if backward else row.extra
    return Pass(gpu, chip, grid, work, row.shape, backward, row.burst, power, extra)


def _usable(row: Mapping[str, str]) -> bool:
    """Return whether a row states its shape, a kernel that we know, and a time with data in memory."""
    if not row["batch"] or row["pass_"] not in PASSES or _kernel(row) is None:
        return False
    if row.get("regime") != "sustained" or not row.get("power_w") or int(row["seqlen"]) < LONG:
        return True
    least = LEAST_WATTS.get(_gpu(row).architecture)
    return least is None or float(row["tflops"]) / float(row["power_w"]) <= least


def _kernel(row: Mapping[str, str]) -> str | None:
    return implementation(row["impl"], row.get("kernel", ""), _gpu(row))


def _gpu(row: Mapping[str, str]) -> Gpu:
    return hardware.gpu(catalog.canonical("gpu", row["gpu"]))


def _hash(row: Mapping[str, str]) -> int:
    names = ("batch", "seqlen", "heads", "kv_heads", "head_dim", "window")
    return crc32(" ".join(row.get(name, "") for name in names).encode())


def _timing(row: Mapping[str, str]) -> Timing:
    gpu = catalog.canonical("gpu", row["gpu"])
    batch, heads, sequence, size = (int(row[name]) for name in ("batch", "heads", "seqlen", "head_dim"))
    kv, values, window = (int(row.get(name) or 0) for name in ("kv_heads", "v_head_dim", "window"))
    causal, passes, includes = row["causal"] == "True", PASSES[row["pass_"]], row.get("includes", "")
    shape = Shape(
        batch, heads, kv or heads, sequence, sequence, size, values or size, causal,
        window=window if 0 < window < sequence else None,
    )  # fmt: skip
    extra = attention_serving.nbytes(
        includes, tokens=batch * sequence, heads=heads, kv_heads=kv or heads, head_size=size, value_size=values or size
    )
    counted: dict[str, Any] = {"batch": batch, "heads": heads, "queries": sequence, "keys": sequence, "head_size": size}
    more: dict[str, Any] = {"value_size": values or size, "causal": causal, "window": shape.window}
    work = added(attention.flops(**counted, **more, backward=backward) for backward in passes)
    seconds = float(row["time_us"]) * 1e-6 if row.get("time_us") else work / (float(row["tflops"]) * 1e12)
    kernel = str(_kernel(row))
    burst = row.get("regime") != "sustained"
    return Timing(gpu, kernel, row["dtype"], shape, passes, burst, bool(includes), extra, seconds)
