"""Fit the constants of expert layers to tables of measured ones.

As in `simulator.calibration.gemm` an architecture gets one set a module and number format, from all its GPUs, and a GPU
with rows gets a few of its own, held to those. The fit starts from what no table knows (`PRIOR`). The default, for
an architecture without rows, is the geometric middle of the architectures that have some.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from simulator.calibration import kernels
from simulator.calibration.experts_rows import Measured
from simulator.calibration.gemm import SIBLING, UNKNOWN
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import experts
from simulator.machine.kernels.experts import Layer
from simulator.machine.kernels.experts_constants import WHOLE, ExpertsConstants

PRIOR = ExpertsConstants(
    start=15e-6, rate=0.7, edge=4.0, load=150e9, fill=0.3e-6, epilogue=1e-6, tail=0.4, memory=0.8, copies=0.5,
    activation=1.0, token=0.3e-9, pair=0.1e-9,
)  # fmt: skip
"""Where fits start: single products on Hopper and Blackwell, six launches, copies at half of the bandwidth."""
OWN = ("start", "rate", "load", "memory", "copies", "token", "pair")
"""What differs between GPUs of one architecture: clocks, memory, host."""
MOST: Mapping[str, float] = {"rate": 1.0, "tail": 1.0, "memory": 1.0, "copies": 1.0}
SCATTER = 0.07
"""Log error of a layer beyond which it counts less: the autotuner's pick is at times several times as slow."""
FURTHEST = 3.0
"""Log distance that a constant may move."""
EVALUATIONS = 25
UNITS = (("start", "us", 1e6), ("fill", "us", 1e6), ("epilogue", "us", 1e6), ("token", "ns", 1e9), ("pair", "ns", 1e9),
         ("load", "GB/s", 1e-9))  # fmt: skip
HEADER = """Constants of layers of experts by architecture, module and format, and of GPUs that differ; explained in
simulator/machine/kernels/experts_constants.py. Written by simulator.calibration.experts from half of the shapes of
measured tables; `default` is an architecture without any."""
SOURCE = (
    "TensorRT-LLM's fused experts in ai-dynamo/aiconfigurator@095f58a (Apache-2.0, Copyright NVIDIA CORPORATION & "
    "AFFILIATES)"
)
"""What the entry was fitted to."""


class Batch(NamedTuple):
    """Rows of one GPU, module and format as arrays."""

    gpu: Gpu
    dtype: str
    layers: Layer
    seconds: np.ndarray


def rewritten(rows: Sequence[Measured]) -> str:
    """Return the text of the catalog entry with everything that half of the shapes of `rows` can say."""
    groups: dict[tuple[str, str, str], list[Measured]] = defaultdict(list)
    for row in rows:
        if row.half == 0:
            groups[hardware.gpu(row.gpu).architecture, row.module, row.dtype].append(row)
    of_architectures: dict[str, Any] = {}
    of_gpus: dict[str, Any] = {}
    found: dict[str, dict[str, list[ExpertsConstants]]] = defaultdict(lambda: defaultdict(list))
    for (architecture, module, dtype), group in sorted(groups.items()):
        together = fitted(batches(group), PRIOR, list(asdict(PRIOR)), UNKNOWN)
        found[module][dtype].append(together)
        _put(of_architectures, (architecture, module, dtype), together, list(asdict(PRIOR)))
        names = sorted({row.gpu for row in group})
        for name in names if len(names) > 1 else ():
            own = fitted(batches([row for row in group if row.gpu == name]), together, OWN, SIBLING)
            _put(of_gpus, (name, module, dtype), own, OWN)
    default: dict[str, Any] = {WHOLE: {}}
    for module, formats in found.items():
        for dtype, sets in formats.items():
            _put(default, (module, dtype), _middle(sets), list(asdict(PRIOR)))
    entry = {"default": default, "architectures": of_architectures, "gpus": of_gpus, "source": SOURCE}
    return kernels.text(entry, HEADER)


def batches(rows: Iterable[Measured]) -> list[Batch]:
    """Return `rows` as arrays."""
    groups: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for row in rows:
        groups[row.gpu, row.dtype].append(row)
    return [
        Batch(
            hardware.gpu(gpu),
            dtype,
            Layer(*(np.array(values, float) for values in zip(*(row.layer for row in group), strict=True))),
            np.array([row.seconds for row in group]),
        )
        for (gpu, dtype), group in groups.items()
    ]


def predicted(batch: Batch, constants: ExpertsConstants) -> np.ndarray:
    """Return the seconds of a batch, of a short benchmark, by `constants`."""
    found: np.ndarray = experts.seconds(batch.gpu, batch.layers, constants, dtype=batch.dtype, regime="burst")
    return found


def fitted(rows: Sequence[Batch], prior: ExpertsConstants, names: Sequence[str], spread: float) -> ExpertsConstants:
    """Return `prior` with the constants `names` fitted to `rows`, each held to where it starts by `spread`."""
    from scipy.optimize import least_squares

    origin = np.log([getattr(prior, name) for name in names])
    low = origin - FURTHEST
    high = np.minimum(origin + FURTHEST, np.log([MOST.get(name, np.inf) for name in names]))

    def moved(logs: np.ndarray) -> ExpertsConstants:
        return replace(prior, **{name: float(value) for name, value in zip(names, np.exp(logs), strict=True)})

    def residuals(logs: np.ndarray) -> np.ndarray:
        errors = [np.log(predicted(batch, moved(logs)) / batch.seconds) / SCATTER for batch in rows]
        return np.concatenate([*errors, (logs - origin) / spread])

    begin = np.clip(origin, low + 1e-3, high - 1e-3)
    least = least_squares(residuals, begin, bounds=(low, high), loss="soft_l1", max_nfev=EVALUATIONS, x_scale=0.3)
    return moved(least.x)


def _middle(sets: Sequence[ExpertsConstants]) -> ExpertsConstants:
    logs = np.log([list(asdict(one).values()) for one in sets])
    return ExpertsConstants(**dict(zip(asdict(PRIOR), np.exp(logs.mean(axis=0)).tolist(), strict=True)))


def _put(entry: dict[str, Any], path: Sequence[str], constants: ExpertsConstants, names: Sequence[str]) -> None:
    """Write constants as text at the end of `path`."""
    for key in path[:-1]:
        entry = entry.setdefault(key, {})
    units = {name: (unit, factor) for name, unit, factor in UNITS}
    texts = {}
    for name in names:
        unit, factor = units.get(name, ("", 1.0))
        texts[name] = kernels.rounded(getattr(constants, name) * factor) + unit
    entry[path[-1]] = texts
