"""The constants of attention kernels by precision, pass and mask, from `catalog/calibration/attention.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator import units
from simulator.units import Bytes, Count, Number, Seconds, Share

MASKS = ("causal", "full", "window")
NEVER, SERVING, ALWAYS = "never", "serving", "always"
"""Which calls make a kernel do something: none, those of serving engines, or those of training frameworks too."""
SECTIONS, COLUMNS = "sections", "columns"
"""Orders other than the fixed one; see `simulator.machine.kernels.attention_order`."""


@dataclass(frozen=True, kw_only=True)
class Units:
    """What one multiprocessor does per clock, from the data sheet."""

    tensor: Number
    """Operations of the tensor cores in bf16, or fp16 where there is no bf16."""
    exponentials: Number
    """Results of the special function units."""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """How a kernel cuts and deals its work, from its source."""

    blocks: Mapping[int, Count]
    """Queries in a block, by padded head size; heads in between take the next larger entry."""
    keys: Count
    """Keys in a block of the backward."""
    order: str
    """How blocks of a causal mask are dealt: ``static``, ``sections``, or ``columns``, which is one section for each
    head and sequence; see `simulator.machine.kernels.attention_order`."""
    cache: Bytes
    """Keys and values that a section of blocks may have, so that they stay in the second-level cache."""
    splits: str
    """Whether few blocks are cut along their keys: never, by serving engines, or always."""
    packs: str
    """Whether query heads of a key head share a block: ``serving`` where a serving engine's sequence is shorter than a
    block, ``always`` in all calls of serving engines, and where the sequence is shorter in those of training too."""


@dataclass(frozen=True, kw_only=True)
class FlashConstants:
    """One pass of a fused kernel under one mask; see `simulator.machine.kernels.attention_flash`."""

    rate: Mapping[int, Share]
    """Rate of the products over the peak, by padded head size; interpolated, and constant beyond."""
    exponentials: Number
    """Exponentials over what the special function units compute; above 1 where other units help."""
    start: Seconds
    """Start and end of a block: its queries are loaded, its pipeline filled, its context written."""
    launch: Seconds
    """Launch on the device, and what a kernel does once."""
    latency: Seconds
    """One step of 64 keys by a block on its own, for head and value sizes of 128: a chain of product, maximum,
    exponential and product."""
    growth: Number
    """Latency at twice the head size over that."""
    overlap: Number
    """Exponent that joins the work of all multiprocessors with the longest block."""
    order: Number
    """Weight of the order in which blocks are dealt."""
    load: Number
    """Bytes of keys and values that a multiprocessor loads per clock."""


@dataclass(frozen=True, kw_only=True)
class ServingConstants:
    """What serving engines do around a kernel: rotary embedding, cast, write of the cache."""

    start: Seconds
    bandwidth: Share
    """Bandwidth over the memory's, for the bytes that `attention_serving` counts."""


@dataclass(frozen=True, kw_only=True)
class AttentionConstants:
    """One attention kernel in one precision."""

    traits: Traits
    forward: Mapping[str, FlashConstants]
    """By mask."""
    backward: Mapping[str, FlashConstants]
    threshold: Share
    """Utilisation of the peak above which the clock falls; see `simulator.machine.kernels.clock`."""
    serving: ServingConstants


def attention_constants(entry: Mapping[str, Any]) -> dict[str, AttentionConstants]:
    """Return the constants of one kernel of `attention.yaml`, by precision."""
    traits = _traits(entry["traits"])
    return {dtype: _precision(traits, values) for dtype, values in entry.items() if dtype != "traits"}


def flash(entry: Mapping[str, Any]) -> FlashConstants:
    """Return the constants of one pass and mask."""
    rate = {int(size): float(share) for size, share in entry["rate"].items()}
    return FlashConstants(rate=rate, **numbers({key: text for key, text in entry.items() if key != "rate"}))


def numbers(values: Mapping[str, str]) -> dict[str, float]:
    """Return numbers and times of a catalog entry."""
    return {key: units.parse(text, "s" if text.endswith("s") else "number") for key, text in values.items()}


def _precision(traits: Traits, values: Mapping[str, Any]) -> AttentionConstants:
    """Return one precision. A mask states what differs from ``causal``, the backward what differs from the forward."""
    forward = {mask: values["forward"]["causal"] | values["forward"].get(mask, {}) for mask in MASKS}
    backward = values["backward"]["causal"]
    both = {mask: forward[mask] | backward | values["backward"].get(mask, {}) for mask in MASKS}
    return AttentionConstants(
        traits=traits,
        forward={mask: flash(one) for mask, one in forward.items()},
        backward={mask: flash(one) for mask, one in both.items()},
        threshold=float(values["threshold"]),
        serving=ServingConstants(**numbers(values["serving"])),
    )


def _traits(entry: Mapping[str, Any]) -> Traits:
    blocks = {int(size): int(queries) for size, queries in entry["blocks"].items()}
    return Traits(
        blocks=blocks,
        keys=int(entry["keys"]),
        order=entry["order"],
        cache=units.parse(entry["cache"], "B"),
        splits=entry["splits"],
        packs=entry["packs"],
    )
