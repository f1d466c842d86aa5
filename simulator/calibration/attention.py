"""Fit the constants of attention kernels to tables of their rates.

Of each kernel and precision on each architecture: the forward under a causal mask first, with what serving engines do
around it and the threshold of the clock; then what differs under other masks; then the backward, from rows that have it
alone or together with the forward. Plain PyTorch attention gives the passes over the scores. What no row says keeps its
value in the catalog, which is its prior.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simulator import catalog
from simulator.calibration import kernels
from simulator.calibration.attention_rows import Pass, Timing, prepared, read
from simulator.machine import hardware
from simulator.machine.kernels import attention, attention_flash, attention_serving
from simulator.machine.kernels.attention_constants import MASKS, attention_constants
from simulator.machine.kernels.constants import UnfusedConstants, overlaid
from simulator.units import Seconds

TABLE = "attention"
HEADER = """Constants of attention kernels by architecture; their meaning is in
simulator/machine/kernels/attention_constants.py. Written by simulator.calibration.attention from
simulator/validation/data/attention.csv and tables of kernels of the same columns; priors where `causes` says so."""
PLAIN = ("passes", "mask_passes", "copies")
UNKNOWN = 0.5
FEWEST_ROWS = 4
FREE = {
    "rate": 0.3, "exponentials": 0.3, "start": 0.5, "launch": 0.5, "latency": 0.4, "growth": 0.2, "overlap": 0.5,
    "order": 0.7, "load": 0.4,
}  # fmt: skip
"""What is fitted of a pass, and how far (in ln) we believe that it is from its prior."""
LOOSE = 3
"""Deviation of the priors of a pass with few rows, over that: one kernel's rates differ less than kernels do."""
LIMITS = {"overlap": (1.0, 12.0), "order": (0.0, 1.0), "growth": (0.8, 1.5)}
Key = tuple[str, str, str]
Path_ = tuple[str, ...]


def timings(path: Path) -> list[Timing]:
    """Return the rows of a table of attention rates that state their shape and a kernel we know."""
    return read(path)


def fitted(entry: Mapping[str, Any], rows: Iterable[Timing]) -> dict[str, Any]:
    """Return the catalog `entry` with everything fitted again that `rows` can say of fused kernels."""
    found = deepcopy(dict(entry))
    groups = defaultdict(list)
    for row in rows:
        if row.kernel != "eager":
            groups[row.key].append(row)
    for (architecture, kernel, dtype), group in groups.items():
        kernel_entry = _entry(found, architecture, kernel)
        if dtype in kernel_entry and len(group) >= FEWEST_ROWS:
            own = found["architectures"][architecture]["kernels"].setdefault(kernel, {})
            own[dtype] = _precision(kernel_entry, dtype, group)
    return found


def fitted_passes(rows: Sequence[Timing]) -> UnfusedConstants:
    """Return the passes over the scores that plain attention makes."""
    plain = [row for row in rows if row.kernel == "eager"]
    prior = hardware.gpu(plain[0].gpu).kernels.unfused

    def moved(values: Iterable[float]) -> UnfusedConstants:
        return replace(prior, **{name: float(value) for name, value in zip(PLAIN, values, strict=True)})

    def seconds(values: np.ndarray) -> np.ndarray:
        return unfused_seconds(plain, moved(values))

    start = [getattr(prior, name) for name in PLAIN]
    return moved(kernels.fit(seconds, np.array([row.seconds for row in plain]), start, UNKNOWN))


def unfused_seconds(rows: Sequence[Timing], constants: UnfusedConstants) -> np.ndarray:
    """Return the seconds of rows of plain attention."""
    gpus = {name: hardware.gpu(name) for name in {row.gpu for row in rows}}
    known = {name: hardware.calibrated(gpu, replace(gpu.kernels, unfused=constants)) for name, gpu in gpus.items()}
    return np.array([row.time(known[row.gpu]) for row in rows])


def predictions(entry: Mapping[str, Any], rows: Sequence[Timing]) -> np.ndarray:
    """Return the seconds of `rows` of fused kernels by the catalog `entry`."""
    seconds = np.zeros(len(rows))
    for place, row in enumerate(rows):
        architecture, kernel, dtype = row.key
        values = _entry(entry, architecture, kernel)[dtype]
        seconds[place] = _seconds(_entry(entry, architecture, kernel), dtype, values, prepared([row]))[0]
    return seconds


def rewritten(paths: Iterable[Path]) -> str:
    """Return the text of the catalog entry with everything that the tables in `paths` can say fitted again."""
    rows = [row for path in paths for row in read(path)]
    entry = fitted(catalog.entry("calibration", TABLE), rows)
    if any(row.kernel == "eager" for row in rows):
        unfused = fitted_passes(rows)
        entry["default"]["unfused"] |= {name: kernels.rounded(getattr(unfused, name)) for name in PLAIN}
    return kernels.text(entry, HEADER)


def _entry(entry: Mapping[str, Any], architecture: str, kernel: str) -> dict[str, Any]:
    """Return what the catalog says of a kernel on an architecture."""
    default = entry["default"]["kernels"].get(kernel, {})
    own = entry["architectures"].get(architecture, {}).get("kernels", {}).get(kernel, {})
    return overlaid(default, own)


def _precision(kernel: Mapping[str, Any], dtype: str, rows: Sequence[Timing]) -> dict[str, Any]:
    """Return one precision of a kernel with what `rows` say."""
    values: dict[str, Any] = deepcopy(kernel[dtype])
    alone = [row for row in rows if row.passes == (False,)]
    for mask in MASKS:
        if some := [row for row in alone if row.mask == mask]:
            values["forward"].setdefault(mask, {})
            paths = _paths(some, ("forward", mask))
            if mask == "causal":
                paths |= _around(some)
            values = _fit(kernel, dtype, values, some, paths)
    if backward := [row for row in rows if True in row.passes]:
        paths = {}
        for mask in sorted({row.mask for row in backward}):
            values["backward"].setdefault(mask, {})
            paths |= _paths([row for row in backward if row.mask == mask], ("backward", mask))
        values = _fit(kernel, dtype, values, backward, paths)
        if all(row.mask != "causal" for row in backward):
            values["backward"]["causal"] |= _masked(values)
    return values


def _masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the backward under a causal mask where only that without one was measured.

    It loses as much of its rate as the forward does.
    """
    found: dict[str, Any] = deepcopy(values["backward"]["full"])
    for size, text in found["rate"].items():
        lost = _number(_at(values, ("forward", "causal", "rate", size)))
        lost /= _number(_at(values, ("forward", "full", "rate", size)))
        found["rate"][size] = _text(lost * _number(text), text)
    return found


def _paths(rows: Sequence[Timing], place: Path_) -> dict[Path_, float]:
    """Return the constants to fit of a pass, each with the deviation of its prior."""
    free = {name: spread * (1 if len(rows) >= kernels.PULLED_FROM else LOOSE) for name, spread in FREE.items()}
    spreads = {(*place, name): spread for name, spread in free.items() if name != "rate"}
    return spreads | {(*place, "rate", str(size)): free["rate"] for size in {row.size for row in rows}}


def _around(rows: Sequence[Timing]) -> dict[Path_, float]:
    """Return the constants to fit beside the kernel's own."""
    spreads: dict[Path_, float] = {}
    if any(row.extra for row in rows):
        spreads |= {("serving", "start"): 0.6, ("serving", "bandwidth"): 0.7}
    if len({row.burst for row in rows}) == 2:
        spreads[("threshold",)] = 0.15
    return spreads


def _fit(
    kernel: Mapping[str, Any],
    dtype: str,
    values: dict[str, Any],
    rows: Sequence[Timing],
    spreads: Mapping[Path_, float],
) -> dict[str, Any]:
    """Return `values` with the constants at the paths `spreads` fitted to `rows`."""
    passes = prepared(rows)
    paths = sorted(spreads)
    start = [_number(_at(values, path)) for path in paths]

    def moved(constants: Iterable[float]) -> dict[str, Any]:
        changed = deepcopy(values)
        for path, constant in zip(paths, constants, strict=True):
            low, high = LIMITS.get(path[-1], (0.0, 1.0 if "rate" in path else np.inf))
            _put(changed, path, _text(min(high, max(low, float(constant))), _at(values, path)))
        return changed

    def seconds(constants: np.ndarray) -> np.ndarray:
        return _seconds(kernel, dtype, moved(constants), passes)

    measured = np.array([row.seconds for row in rows])
    return moved(kernels.least_squares(seconds, measured, start, [spreads[path] for path in paths]))


def _seconds(
    kernel: Mapping[str, Any], dtype: str, values: Mapping[str, Any], rows: Sequence[Sequence[Pass]]
) -> np.ndarray:
    """Return the seconds of prepared rows by the constants `values`."""
    constants = attention_constants({"traits": kernel["traits"], dtype: values})[dtype]
    both = {False: constants.forward, True: constants.backward}

    def alone(one: Pass) -> Seconds:
        chip = one.chip._replace(threshold=constants.threshold * one.power)
        seconds = attention.fused((chip, one.grid, one.work), both[one.backward], one.shape, burst=one.burst)
        return seconds + attention_serving.time(one.gpu, constants.serving, one.extra)

    return np.array([sum(alone(one) for one in row) for row in rows])


def _at(values: Mapping[str, Any], path: Path_) -> str:
    """Return the text at `path`; a mask that says nothing has what the causal one has, the backward the forward's."""
    if path[0] not in ("forward", "backward"):
        return str(values[path[0]] if len(path) == 1 else values[path[0]][path[1]])
    back, mask, *names = path
    places = [(back, mask), (back, "causal"), ("forward", mask), ("forward", "causal")]
    for one in places:
        found: Any = values[one[0]].get(one[1], {})
        for name in names:
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is not None:
            return str(found)
    shares = values[back]["causal"]["rate"]
    return str(attention_flash.share({int(size): float(share) for size, share in shares.items()}, int(path[-1])))


def _put(values: dict[str, Any], path: Path_, text: str) -> None:
    """Set the text at `path`; rates of a mask begin with all of the causal ones."""
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = text
    if "rate" in path:
        ordered = dict(sorted(values.items(), key=lambda item: int(item[0])))
        values.clear()
        values.update(ordered)


def _number(text: str) -> float:
    return float(text.removesuffix("us"))


def _text(value: float, like: str) -> str:
    return kernels.rounded(value, 4) + ("us" if like.endswith("us") else "")
