"""The measured constants of a GPU's kernels, and who inherits them.

One entry an architecture, and one a GPU where the same architecture behaves otherwise (a lower power limit). A GPU that
was never measured takes its architecture's; an architecture that was never measured takes the middle of the measured
ones, scaled by the best matrix product anyone published for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, cast

from simulator import catalog, units
from simulator.machine.kernels import clock
from simulator.machine.kernels.attention_constants import AttentionConstants, Units, attention_constants
from simulator.units import FlopsPerSecond, Number, Seconds, Share, Watts


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
class GemmConstants:
    """Matrix products; see `simulator.machine.kernels.gemm`."""

    start: Mapping[str, Seconds]
    """Start and end of a kernel: launch on the device, prologue, epilogue; by precision."""
    issue: Seconds
    """Time the library takes to issue a product, which a stream of small ones cannot beat."""
    memory: Share
    """Delivered over nominal memory bandwidth."""
    rate: Mapping[str, Share]
    """Rate of an infinitely wide tile over the peak, by precision."""
    ramp: Mapping[str, Number]
    """Depth at which a tile has spent as long filling its pipeline as multiplying, by precision."""
    edge: Number
    """Width of a tile that moves its operands as long as it multiplies them."""
    overlap: Number
    """Exponent of the sum of multiplying and moving: 1 one after the other, infinite all at once."""
    tail: Share
    """Share of the last, partly filled wave of tiles that is waited for."""
    split: Number
    """Passes over the fp32 partial results for each part that the depth is split into."""
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
        gemm=gemm_constants(gemm | {"rate": _rates(gpu, _table("gemm"), gemm["rate"])}),
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
    unaligned = {int(pieces): float(share) for pieces, share in entry["unaligned"].items()}
    scalars = {key: value for key, value in entry.items() if not isinstance(value, dict)}
    start, rate, ramp = (_numbers(entry[key]) for key in ("start", "rate", "ramp"))
    return GemmConstants(start=start, rate=rate, ramp=ramp, unaligned=unaligned, **_numbers(scalars))


@lru_cache
def _table(name: str) -> dict[str, Any]:
    return catalog.entry("calibration", name)


def _merged(table: Mapping[str, Any], gpu: Device) -> dict[str, Any]:
    """Return the default entry, overlaid by the architecture's and by the GPU's own."""
    merged = cast("dict[str, Any]", table["default"])
    for overlay in (table["architectures"].get(gpu.architecture), table["gpus"].get(gpu.name)):
        merged = overlaid(merged, overlay or {})
    return merged


def overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nested entry with what `above` says, and `below` where it says nothing."""
    deeper = {key: overlaid(below[key], value) for key, value in above.items() if isinstance(below.get(key), dict)}
    return {**below, **above, **deeper}


def _rates(gpu: Device, table: Mapping[str, Any], merged: Mapping[str, str]) -> dict[str, str]:
    """Return the rates by precision, inherited with what is known about the GPU.

    A part of a measured architecture that has less power for its peak runs slower by a power of that ratio; a part of
    an unmeasured one is given the best product anyone published, which on measured parts is the wide-tile rate (0.97
    of it on A100, 1.04 on H100).
    """
    own = table["gpus"].get(gpu.name, {}).get("rate", {})
    architecture = table["architectures"].get(gpu.architecture, {})
    rates = dict(merged)
    for dtype in rates.keys() - own.keys():
        if dtype in architecture.get("rate", {}):
            rates[dtype] = str(float(rates[dtype]) * _power_factor(gpu, table))
        elif dtype in gpu.best_matmul:
            rates[dtype] = str(gpu.best_matmul[dtype] / gpu.peak[dtype])
    return rates


def _attention(entry: Mapping[str, Any], gpu: Device) -> Mapping[str, AttentionConstants]:
    """Return the constants of one kernel; the clock falls sooner where the GPU has less power for its peak."""
    gemm = _table("gemm")
    found = attention_constants(entry)
    if gpu.architecture not in gemm["watts_per_teraflop"]:
        return found
    # The clock falls as a power of the threshold, and so by the same factor as the rate of products.
    factor = _watts(gpu, gemm) ** (float(gemm["power_exponent"]) / clock.EXPONENT)
    return {dtype: replace(one, threshold=one.threshold * factor) for dtype, one in found.items()}


def _power_factor(gpu: Device, table: Mapping[str, Any]) -> float:
    """Return the rate that less power for its peak leaves to a GPU, over that of the measured one."""
    return float(min(1.0, _watts(gpu, table) ** float(table["power_exponent"])))


def _watts(gpu: Device, table: Mapping[str, Any]) -> float:
    """Return the power a GPU has for its peak, over that of the measured one of its architecture."""
    watts_per_teraflop = gpu.power / (max(gpu.peak.get("bf16", 0.0), gpu.peak.get("fp16", 0.0)) / 1e12)
    return float(watts_per_teraflop / float(table["watts_per_teraflop"][gpu.architecture]))


def _spread(table: Mapping[str, Any], gpu: Device) -> Share:
    level = (
        "gpu" if gpu.name in table["gpus"] else "architecture" if gpu.architecture in table["architectures"] else "none"
    )
    return float(table["spread"][level])


def _numbers(values: Mapping[str, str]) -> dict[str, float]:
    return {key: units.parse(text, "s" if text.endswith("s") else "number") for key, text in values.items()}
