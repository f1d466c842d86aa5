"""The measured constants of a GPU's kernels, and who inherits them.

One entry an architecture, and one a GPU where the same architecture behaves otherwise (a lower power limit). A GPU that
was never measured takes its architecture's; an architecture that was never measured takes what all measured ones share,
with its clock moved by its power, or the best matrix product anyone published for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import inf
from typing import Any, Protocol, cast

from simulator import catalog, units
from simulator.machine.kernels import clock
from simulator.machine.kernels.attention_constants import AttentionConstants, FlashConstants, Units, attention_constants
from simulator.units import BytesPerSecond, FlopsPerSecond, Number, Seconds, Share, Watts


class Device(Protocol):
    """What the constants of a GPU depend on (`simulator.machine.hardware.Gpu`)."""

    @property
    def name(self) -> str: ...

    @property
    def architecture(self) -> str: ...

    @property
    def peak(self) -> Mapping[str, FlopsPerSecond]: ...

    @property
    def best_matmul(self) -> Mapping[str, FlopsPerSecond]: ...

    @property
    def power(self) -> Watts: ...


@dataclass(frozen=True, kw_only=True)
class ProductConstants:
    """Matrix products in one number format; see `simulator.machine.kernels.gemm`."""

    rate: Share
    """Rate of an infinitely wide tile over the peak, at the full clock."""
    edge: Number
    """Width of a tile that loses as much at its edges as it multiplies."""
    load: BytesPerSecond
    """What one multiprocessor loads, which binds narrow tiles."""
    latency: Seconds
    """Shortest time of 64 elements of depth, however small the tile."""
    fill: Seconds
    """Time until the first tile multiplies."""
    epilogue: Seconds
    """Time to write out a tile of 128 x 256 that no multiplying hides."""
    tail: Share
    """Share of the last, partly filled wave of tiles that is waited for."""
    overlap: Number
    """Exponent of the sum of multiplying and moving: 1 one after the other, infinite all at once."""
    memory: Share
    """Delivered over nominal memory bandwidth."""
    l2: BytesPerSecond
    """Bandwidth of the second-level cache for each multiprocessor."""
    resident: Share
    """Share of the second-level cache that holds operands from one replay to the next."""
    start: Seconds
    """Start and end of a kernel: launch on the device, prologue, epilogue."""
    parts: Number
    """Most parts that the depth is split into."""
    split: Seconds
    """Time to join parts of the depth."""
    passes: Number
    """Passes over the fp32 partial results for each part, at the bandwidth of the second-level cache."""
    throttle: Share
    """Share of the peak above which the clock falls under the power limit."""
    slowing: Number
    """Exponent of that fall."""
    settle: Seconds
    """Time of a kernel whose replays in a short benchmark have lowered the clock half way."""


PRODUCT = frozenset(one.name for one in fields(ProductConstants))


@dataclass(frozen=True, kw_only=True)
class CastConstants:
    """A kernel that reads a 16-bit tensor and finds its scale or writes it in fewer bits."""

    start: Seconds
    memory: Share
    """Delivered over nominal memory bandwidth."""
    load: BytesPerSecond
    """What one multiprocessor takes at most, wherever the tensor lies."""
    overlap: Number
    """Exponent of the sum of start and bytes: 1 one after the other, infinite all at once."""


@dataclass(frozen=True, kw_only=True)
class GemmConstants:
    """Matrix products and the casts of their operands."""

    formats: Mapping[str, ProductConstants]
    casts: Mapping[str, CastConstants]
    """By name of the kernel."""
    issue: Seconds
    """Time the library takes to issue a product, which a stream of small ones cannot beat."""
    accumulate: Share
    """Rate of a product that adds itself into an fp32 gradient over one that writes."""
    unaligned: Mapping[int, Share]
    """Rate where a contiguous size is divisible by no more than this many elements."""


@dataclass(frozen=True, kw_only=True)
class UnfusedConstants:
    """Attention as two batched products and passes over the scores."""

    passes: Number
    """Forward passes over scores of two bytes by the kernels between the products."""
    mask_passes: Number
    """More of them where the mask is a kernel of its own."""
    copies: Number
    """Passes over a projected tensor that plain PyTorch spends on changing layouts."""
    backward: Number
    """Backward over forward passes."""
    unaligned: Number
    """Time of a batched product whose head size is no multiple of 8, over an aligned one."""


@dataclass(frozen=True, kw_only=True)
class ElementwiseConstants:
    """Memory-bound kernels: shares of nominal memory bandwidth and the time of an empty kernel."""

    start: Seconds
    fused: Share
    eager: Share
    optimizer: Share


@dataclass(frozen=True, kw_only=True)
class LaunchConstants:
    """Time between the starts of empty kernels."""

    stream: Seconds
    graphs: Seconds


@dataclass(frozen=True, kw_only=True)
class KernelConstants:
    """All constants of one GPU."""

    gemm: GemmConstants
    attention: Mapping[str, Mapping[str, AttentionConstants]]
    """By kernel and precision."""
    units: Units
    """What a multiprocessor does per clock."""
    newest: str
    """The best attention kernel the architecture has."""
    unfused: UnfusedConstants
    elementwise: ElementwiseConstants
    launch: LaunchConstants
    spread: Share
    """How far a kernel time is typically off: measured GPU, measured architecture, or neither."""


def kernel_constants(gpu: Device) -> KernelConstants:
    """Return the constants of `gpu`: its own, else its architecture's, else the middle of all that were measured."""
    gemm, attention, memory = (_merged(_table(name), gpu) for name in ("gemm", "attention", "memory-bound"))
    return KernelConstants(
        gemm=_with_best(powered(gemm_constants(gemm), gpu), gpu),
        attention={kernel: _attention(entry, gpu) for kernel, entry in attention["kernels"].items()},
        units=Units(**_numbers(attention["units"])),
        newest=attention["newest"],
        unfused=UnfusedConstants(**_numbers(attention["unfused"])),
        elementwise=ElementwiseConstants(**_numbers(memory["elementwise"])),
        launch=LaunchConstants(**_numbers(memory["launch"])),
        spread=_spread(_table("gemm"), gpu),
    )


def gemm_constants(entry: Mapping[str, Any]) -> GemmConstants:
    """Return the constants that an entry of `gemm.yaml` says."""
    return GemmConstants(
        formats={
            dtype: ProductConstants(**_numbers(values))
            for dtype, values in entry["formats"].items()
            if values.keys() >= PRODUCT  # a GPU's own entry is no more than what differs from its architecture
        },
        casts={kernel: CastConstants(**_numbers(values)) for kernel, values in entry["casts"].items()},
        issue=units.parse(entry["issue"], "s"),
        accumulate=float(entry["accumulate"]),
        unaligned={int(pieces): float(share) for pieces, share in entry["unaligned"].items()},
    )


@lru_cache
def _table(name: str) -> dict[str, Any]:
    return catalog.entry("calibration", name)


def _merged(table: Mapping[str, Any], gpu: Device) -> dict[str, Any]:
    """Return the default entry, overlaid by the architecture's and by the GPU's own."""
    merged = cast("dict[str, Any]", table["default"])
    arrays = table.get("systolic") if _systolic(table, gpu) else None
    for overlay in (arrays, table["architectures"].get(gpu.architecture), table["gpus"].get(gpu.name)):
        merged = overlaid(merged, overlay or {})
    return merged


def _systolic(table: Mapping[str, Any], gpu: Device) -> bool:
    """Return whether a compiler feeds the arrays of the chip from memory that it manages itself."""
    known: Mapping[str, Any] = table["architectures"].get(gpu.architecture, {})
    return known.get("units") == "systolic"


def overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nested entry with what `above` says, and `below` where it says nothing."""
    deeper = {key: overlaid(below[key], value) for key, value in above.items() if isinstance(below.get(key), dict)}
    return {**below, **above, **deeper}


def _with_best(constants: GemmConstants, gpu: Device) -> GemmConstants:
    """Return `constants` with the best product anyone published as the rate of formats that were never measured.

    On measured parts it is the wide-tile rate (0.97 of it on A100, 1.04 on H100). The clock of a best product that
    somebody published has settled, so that it falls no further.
    """
    measured = _table("gemm")["architectures"].get(gpu.architecture, {}).get("formats", {})
    formats = {
        dtype: replace(values, rate=gpu.best_matmul[dtype] / gpu.peak[dtype], throttle=1.0)
        for dtype, values in constants.formats.items()
        if dtype not in measured and dtype in gpu.best_matmul
    }
    return replace(constants, formats={**constants.formats, **formats})


def powered(constants: GemmConstants, gpu: Device, *, known: bool = True) -> GemmConstants:
    """Return `constants` of an architecture, or those of one that is not `known`, with the power limit of `gpu`.

    A part with less power for its peak lowers its clock sooner, so that a product bound by it is slower by the same
    power of the ratio as the best products of A100 PCIe and SXM are. Systolic arrays run at a fixed clock.
    """
    table = _table("gemm")
    if _systolic(table, gpu):
        return constants
    ratio = _watts(gpu, table, gpu.architecture if known else "unknown")
    exponent = float(table["power_exponent"])
    formats = {
        dtype: replace(values, throttle=min(1.0, values.throttle * ratio ** (exponent / values.slowing)))
        for dtype, values in constants.formats.items()
    }
    return replace(constants, formats=formats)


def _attention(entry: Mapping[str, Any], gpu: Device) -> Mapping[str, AttentionConstants]:
    """Return the constants of one kernel; the clock falls sooner where the GPU has less power for its peak."""
    gemm = _table("gemm")
    found = attention_constants(entry)
    slower = _matmul_factor(gpu, gemm, _table("attention"))
    if slower < 1:
        found = {
            dtype: replace(one, forward=_slowed(one.forward, slower), backward=_slowed(one.backward, slower))
            for dtype, one in found.items()
        }
    if gpu.architecture not in gemm["watts_per_teraflop"]:
        return found
    # The clock falls as a power of the threshold, and so by the same factor as the rate of products.
    factor = _watts(gpu, gemm, gpu.architecture) ** (float(gemm["power_exponent"]) / clock.EXPONENT)
    return {dtype: replace(one, threshold=one.threshold * factor) for dtype, one in found.items()}


def _slowed(masks: Mapping[str, FlashConstants], factor: Number) -> dict[str, FlashConstants]:
    return {
        mask: replace(one, rate={size: share * factor for size, share in one.rate.items()})
        for mask, one in masks.items()
    }


def _matmul_factor(gpu: Device, gemm: Mapping[str, Any], attention: Mapping[str, Any]) -> float:
    """Return the share of its peak that a product reaches over that of the usual one, where no attention was measured.

    Attention multiplies on the same units under the same clock, so that where products fall short of what is usual,
    attention does too. Where they are better, the softmax between them still sets the pace.
    """
    if gpu.architecture in attention["architectures"]:
        return 1.0
    usual = float(gemm["default"]["formats"]["bf16"]["rate"])
    measured = gemm["architectures"].get(gpu.architecture, {}).get("formats", {})
    reached = float(measured.get("bf16", {}).get("rate", usual))
    dtype = next((dtype for dtype in ("bf16", "fp16") if dtype in gpu.best_matmul), None)
    best = usual if dtype is None else gpu.best_matmul[dtype] / gpu.peak[dtype]
    return min(1.0, reached / usual, best / usual)


def _watts(gpu: Device, table: Mapping[str, Any], architecture: str) -> float:
    """Return the power a GPU has for its peak, over that of the measured one of an architecture, or of all."""
    stated = table["watts_per_teraflop"]
    return float(_watts_per_teraflop(gpu) / float(stated.get(architecture, table["watts_of_default"])))


def _watts_per_teraflop(gpu: Device) -> float:
    """Return power over the 16-bit peak; endless where there is none, which is what meets the limit."""
    peak = max(gpu.peak.get("bf16", 0.0), gpu.peak.get("fp16", 0.0)) / 1e12
    return gpu.power / peak if peak else inf


def _spread(table: Mapping[str, Any], gpu: Device) -> Share:
    fitted = gpu.architecture in table["architectures"] and not _systolic(table, gpu)
    level = "gpu" if gpu.name in table["gpus"] else "architecture" if fitted else "none"
    return float(table["spread"][level])


def _numbers(values: Mapping[str, str]) -> dict[str, float]:
    return {key: units.parse(text, _unit(text)) for key, text in values.items()}


def _unit(text: str) -> str:
    return "B/s" if text.endswith("B/s") else "s" if text.endswith("s") else "number"
