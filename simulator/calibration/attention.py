"""Fit the constants of attention kernels to a table of their rates.

Of each kernel on each architecture: the share of the peak by head size, forward and backward, the start of a block and
what masked blocks lose. Where only forward and backward together are measured, their ratio stays the default's. Plain
PyTorch attention gives the passes over the scores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simulator import catalog
from simulator.calibration import kernels
from simulator.machine import hardware
from simulator.machine.kernels import attention
from simulator.machine.kernels.constants import AttentionConstants, UnfusedConstants, attention_constants
from simulator.sums import added
from simulator.units import Seconds

TABLE = "attention"
HEADER = """Constants of attention kernels by architecture; their meaning is in simulator/machine/kernels/constants.py.
Written by simulator.calibration.attention from simulator/validation/data/attention.csv; priors in `default` and where
`causes` says so."""
KERNELS = {"FA1": "flash-1", "FA2": "flash-2", "FA3": "flash-3", "FA4": "flash-4", "cuDNN": "cudnn"}
EAGER = "PyTorch standard"
PASSES = {"fwd": (False,), "bwd": (True,), "fwd+bwd": (False, True)}
PLAIN = ("passes", "mask_passes", "copies")
FEWEST_ROWS = 4
UNKNOWN = 0.5


class Timing(NamedTuple):
    """One measured point: the time of one or both passes."""

    gpu: str
    kernel: str
    dtype: str
    head_size: int
    causal: bool
    passes: tuple[bool, ...]
    sequence: int
    batch: int
    heads: int
    seconds: Seconds


def timings(path: Path) -> list[Timing]:
    """Return the rows of a table of attention rates that state their shape and a kernel we know."""
    return [_timing(row) for row in kernels.table(path) if row["batch"] and row["pass_"] in PASSES and _kernel(row)]


def fitted(rows: Sequence[Timing]) -> dict[tuple[str, str, str], AttentionConstants]:
    """Return the constants by architecture, kernel and precision."""
    entry = catalog.entry("calibration", TABLE)
    priors = entry["default"]["kernels"] | entry["priors"]
    found = {}
    for key, group in _groups(rows).items():
        _, kernel, dtype = key
        if kernel in priors and len(group) >= FEWEST_ROWS:
            prior = attention_constants(priors[kernel])
            found[key] = _moved(prior.get(dtype, prior["bf16"]), group)
    return found


def fitted_passes(rows: Sequence[Timing]) -> UnfusedConstants:
    """Return the passes over the scores that plain attention makes."""
    plain = [row for row in rows if row.kernel == "eager"]
    prior = hardware.gpu(plain[0].gpu).kernels.unfused

    def moved(values: Iterable[float]) -> UnfusedConstants:
        return replace(prior, **{name: float(value) for name, value in zip(PLAIN, values, strict=True)})

    def seconds(values: np.ndarray) -> np.ndarray:
        return _seconds(plain, unfused=moved(values))

    start = [getattr(prior, name) for name in PLAIN]
    return moved(kernels.fit(seconds, np.array([row.seconds for row in plain]), start, UNKNOWN))


def predictions(
    constants: Mapping[tuple[str, str, str], AttentionConstants], unfused: UnfusedConstants, rows: Iterable[Timing]
) -> np.ndarray:
    """Return the seconds of `rows` by `constants`, by the catalog's where they say nothing."""
    return np.array([_seconds([row], constants.get(_key(row)), unfused)[0] for row in rows])


def rewritten(rows: Sequence[Timing]) -> str:
    """Return the text of the catalog entry with everything that `rows` can say fitted again."""
    entry = catalog.entry("calibration", TABLE)
    for (architecture, kernel, dtype), constants in fitted(rows).items():
        measured = {row.head_size for row in rows if _key(row) == (architecture, kernel, dtype)}
        precisions = (
            entry["architectures"].setdefault(architecture, {}).setdefault("kernels", {}).setdefault(kernel, {})
        )
        precisions[dtype] = _overlay(precisions.get(dtype, {}), constants, measured)
    unfused = fitted_passes(rows)
    entry["default"]["unfused"] |= {name: kernels.rounded(getattr(unfused, name)) for name in PLAIN}
    return kernels.text(entry, HEADER)


def _moved(prior: AttentionConstants, rows: Sequence[Timing]) -> AttentionConstants:
    """Return `prior` with what `rows` measured: each pass, or both by one factor where only their sum is known."""
    alone = {(row.passes[0], row.head_size) for row in rows if len(row.passes) == 1}
    together = {row.head_size for row in rows if len(row.passes) == 2}
    paths: list[list[tuple[str, int | None]]]
    paths = [[("backward" if d else "forward", size)] for d, size in sorted(alone)]
    for size in sorted(together - {size for _, size in alone}):
        paths.append([("forward", size), ("backward", size)])
    separate = sorted({d for d, _ in alone})
    paths += [[("start_backward" if d else "start", None)] for d in separate]
    if not separate:
        paths.append([("start", None), ("start_backward", None)])
    paths.append([("causal", None)])

    def moved(factors: Iterable[float]) -> AttentionConstants:
        constants = prior
        for group, factor in zip(paths, factors, strict=True):
            for name, size in group:
                constants = _scaled(constants, name, size, float(factor))
        return constants

    def seconds(factors: np.ndarray) -> np.ndarray:
        return _seconds(rows, moved(factors))

    return moved(kernels.fit(seconds, np.array([row.seconds for row in rows]), [1.0] * len(paths), UNKNOWN))


def _scaled(constants: AttentionConstants, name: str, size: int | None, factor: float) -> AttentionConstants:
    value: Any = getattr(constants, name)
    changed: Any
    changed = value * factor if size is None else {**value, size: min(1.0, attention.share(value, size) * factor)}
    return replace(constants, **{name: changed})


def _seconds(
    rows: Sequence[Timing], constants: AttentionConstants | None = None, unfused: UnfusedConstants | None = None
) -> np.ndarray:
    """Return the seconds of `rows`, all of one kernel and precision, with the given constants instead of the GPU's."""
    gpus = {}
    for name in {row.gpu for row in rows}:
        known = hardware.gpu(name).kernels
        flash = {rows[0].kernel: {"bf16": constants}} if constants else known.attention
        gpus[name] = hardware.calibrated(
            hardware.gpu(name), replace(known, attention=flash, unfused=unfused or known.unfused)
        )
    time = attention.time.__wrapped__
    return np.array(
        [
            added(
                time(gpus[row.gpu], **_shape(row), backward=d, kernel=row.kernel, dtype=row.dtype) for d in row.passes
            )
            for row in rows
        ]
    )


def _shape(row: Timing) -> dict[str, Any]:
    return {
        "batch": row.batch,
        "heads": row.heads,
        "queries": row.sequence,
        "keys": row.sequence,
        "head_size": row.head_size,
        "causal": row.causal,
    }


def _key(row: Timing) -> tuple[str, str, str]:
    return hardware.gpu(row.gpu).architecture, row.kernel, "fp8" if row.dtype == "fp8" else "bf16"


def _groups(rows: Sequence[Timing]) -> dict[tuple[str, str, str], list[Timing]]:
    groups = defaultdict(list)
    for row in rows:
        groups[_key(row)].append(row)
    return groups


def _overlay(below: Mapping[str, Any], constants: AttentionConstants, sizes: Collection[int]) -> dict[str, Any]:
    """Return an entry with the fitted values; head sizes that were not measured keep their prior."""
    shares = {}
    for name in ("forward", "backward"):
        fitted_shares = {str(size): kernels.rounded(share) for size, share in getattr(constants, name).items()}
        known = {
            **below.get(name, {}),
            **{size: fitted_shares[size] for size in map(str, sizes) if size in fitted_shares},
        }
        shares[name] = dict(sorted(known.items(), key=lambda item: int(item[0])))
    scalars = {name: kernels.rounded(getattr(constants, name)) for name in ("start", "start_backward", "causal")}
    return {**shares, **scalars}


def _kernel(row: Mapping[str, str]) -> str | None:
    return "eager" if row["impl"] == EAGER else KERNELS.get(row["impl"].split()[0])


def _timing(row: Mapping[str, str]) -> Timing:
    batch, heads, sequence, size = (int(row[name]) for name in ("batch", "heads", "seqlen", "head_dim"))
    passes, causal = PASSES[row["pass_"]], row["causal"] == "True"
    shape: dict[str, Any] = {
        "batch": batch,
        "heads": heads,
        "queries": sequence,
        "keys": sequence,
        "head_size": size,
        "causal": causal,
    }
    work = added(attention.flops(**shape, backward=backward) for backward in passes)
    gpu = catalog.canonical("gpu", row["gpu"])
    seconds = work / (float(row["tflops"]) * 1e12)
    return Timing(gpu, str(_kernel(row)), row["dtype"], size, causal, passes, sequence, batch, heads, seconds)
