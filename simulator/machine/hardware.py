"""What a run runs on: GPU, host, scale-up domain, storage, in SI units.

Rates are dense and per direction. ``memory`` is the label as the data sheet means it (GiB on every HBM part);
``usable_memory`` is what a process can allocate after firmware and error correction took theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from simulator import catalog, units
from simulator.errors import ScenarioError
from simulator.machine.kernels.constants import KernelConstants, kernel_constants
from simulator.units import Bytes, BytesPerSecond, Count, FlopsPerSecond, Seconds, Share, Watts

USABLE_SHARE = 0.99
"""Usable over labelled memory where an entry does not say: 79.15 of 80 GiB on A100, 79.6 on H100."""
IDLE_SHARE = 0.14
"""Idle over maximum power where an entry does not say (about 100 of 700 W on H100, unverified)."""
WATTS_PER_FLOPS = 0.7e-12
"""Maximum power where nothing is published: 0.7 W a dense bf16 TFLOP/s (H100 700/989, TPU v4 192/275)."""
HOST_LINK_EFFICIENCY: Share = 0.87
"""Delivered over nominal bandwidth of the host link: 55 of 63 GB/s on PCIe 5 (nvbandwidth on H200)."""


FEWEST_MULTIPROCESSORS = 16
"""Between the 8 cores of a Trainium 2, which a compiler fills, and the 28 multiprocessors of an RTX 3060."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One accelerator; hashed by its main figures, so that kernel times are cached by it."""

    name: str = "custom"
    """What reports call it."""
    architecture: str = "unknown"
    """Kernel constants are inherited along it: volta, ampere, hopper, blackwell, cdna3, ..."""
    memory: Bytes
    """As labelled; binary GiB on NVIDIA parts."""
    usable_memory: Bytes = 0.0
    """What a process can allocate; 99% of ``memory`` where left out."""
    memory_bandwidth: BytesPerSecond
    """Nominal bandwidth of the device memory."""
    peak: Mapping[str, FlopsPerSecond]
    """Dense peak by precision."""
    best_matmul: Mapping[str, FlopsPerSecond] = field(default_factory=dict)
    """Best matrix product anyone measured, by precision, where no kernel table exists."""
    scale_up: BytesPerSecond = 0.0
    """All scale-up links together, per direction."""
    scale_up_pair: BytesPerSecond | None = None
    """What one peer gets of it on a mesh (xGMI, torus); all of it behind a switch."""
    scale_up_kind: str = ""
    """Kind of the scale-up links, such as `NVLink4 NVSwitch SHARP`; chooses their collectives."""
    peer_access: bool = True
    """Whether cards that meet over PCIe reach each other's memory; without it they send through that of their host."""
    sms: Count = 1
    """Streaming multiprocessors or compute units; 1 where a kernel fills the chip whatever its shape."""
    cache: Bytes = 0.0
    """Last-level cache. Benchmarks that repeat a product find part of its operands there; a step does not."""
    power: Watts = 0.0
    """Maximum board power; from the bf16 peak where nothing is published."""
    idle_power: Watts = 0.0
    """Power while it waits; 14% of the maximum where left out."""
    host_link: BytesPerSecond = 63e9
    """Nominal link to host memory, per direction."""
    measured: KernelConstants | None = field(default=None, repr=False, metadata={"input": False})
    """Constants of a calibration, instead of the catalog's."""

    def __post_init__(self) -> None:
        if alone := self.best_matmul.keys() - self.peak.keys():
            dtype = min(alone)
            raise ValueError(f"best_matmul.{dtype} is a share of a peak that is not given; give peak.{dtype} too")
        default = object.__setattr__
        if not self.usable_memory:
            default(self, "usable_memory", USABLE_SHARE * self.memory)
        if not self.power:
            half = self.peak.get("bf16", self.peak.get("fp16", max(self.peak.values(), default=0.0)))
            default(self, "power", WATTS_PER_FLOPS * half)
        if not self.idle_power:
            default(self, "idle_power", IDLE_SHARE * self.power)

    @property
    def deals_blocks(self) -> bool:
        """Whether kernels deal blocks to multiprocessors; the few large cores of Trainium, up to 8, are no such."""
        return self.sms >= FEWEST_MULTIPROCESSORS

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Numbers only: they hash alike in every process. Calibrations differ in constants alone and must not collide.
        calibration = crc32(repr(self.measured).encode()) if self.measured else 0
        return hash((self.memory, self.memory_bandwidth, self.sms, self.power, *self.peak.values(), calibration))

    @cached_property
    def kernels(self) -> KernelConstants:
        """The measured constants of this GPU's kernels."""
        return self.measured or kernel_constants(self)

    def peak_of(self, dtype: str) -> FlopsPerSecond:
        """Return the dense peak of `dtype`; a precision the GPU lacks is a mistake of the input."""
        try:
            return self.peak[dtype]
        except KeyError:
            raise ScenarioError(f"{self.name} has no {dtype} arithmetic; it has {', '.join(self.peak)}") from None


@dataclass(frozen=True, kw_only=True)
class ScaleUp:
    """The fast domain of a host or a rack: NVLink, xGMI, ICI."""

    domain: Count = 8
    """GPUs that reach each other at scale-up speed; more than a host's where racks are joined."""
    bandwidth: BytesPerSecond = 0.0
    """Per GPU and direction; the GPU's own where left out."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """A machine with GPUs and NICs."""

    name: str = "custom"
    """What reports call it."""
    gpu: Gpu
    """A GPU of the catalog, or its keys."""
    gpus: Count = 8
    """GPUs of one host."""
    scale_up: ScaleUp
    """The fast domain that its GPUs are part of."""
    nics: Count = 8
    """NICs of one host that training uses."""
    nic_bandwidth: BytesPerSecond = 0.0
    """One NIC, per direction."""
    nic_latency: Seconds = 0.5e-6
    """One pass through a NIC (SimAI); what a fabric's protocol adds is the network's."""
    fabric: str = "infiniband"
    """infiniband, roce, efa, efa-v2, efa-v3, omni-path, slingshot, tcp, dcn."""
    memory: Bytes | None = None
    """Memory of the host; taken as enough for what is offloaded where left out."""
    memory_bandwidth: BytesPerSecond = 409.6e9
    """All memory of the host together; two sockets of eight channels of DDR4-3200 where left out."""
    host_link: BytesPerSecond | None = None
    """Nominal host link of each GPU; the GPU's own where left out."""
    power: Watts | None = None
    """Rated maximum of the whole host."""


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Shared storage as the whole cluster sees it."""

    write: BytesPerSecond
    """All hosts together, writing checkpoints."""
    read: BytesPerSecond
    """All hosts together, loading checkpoints."""


_UNITS = {
    "memory": "B", "usable_memory": "B", "cache": "B", "memory_bandwidth": "B/s", "scale_up": "B/s",
    "scale_up_pair": "B/s", "host_link": "B/s", "nic_bandwidth": "B/s", "nic_latency": "s", "bandwidth": "B/s",
    "power": "W", "idle_power": "W", "peak": "FLOP/s", "best_matmul": "FLOP/s",
}  # fmt: skip
_COUNTS = ("sms", "gpus", "nics", "domain")
_FLAGS = ("peer_access",)
_TEXTS = ("architecture", "scale_up_kind", "fabric")


def gpu(name: str, catalogs: Sequence[Path | str] = ()) -> Gpu:
    """Return the GPU `name` of the catalog."""
    return _gpu(catalog.canonical("gpu", name, catalogs), tuple(catalogs))


def host(name: str, catalogs: Sequence[Path | str] = ()) -> Host:
    """Return the host `name` of the catalog."""
    return _host(catalog.canonical("host", name, catalogs), tuple(catalogs))


def calibrated(gpu: Gpu, constants: KernelConstants) -> Gpu:
    """Return `gpu` with measured kernel constants."""
    return replace(gpu, measured=constants)


@lru_cache(maxsize=256)
def _gpu(name: str, catalogs: tuple[Path | str, ...]) -> Gpu:
    with _of_entry("gpu", name):
        return Gpu(name=name, **_figures(catalog.entry("gpu", name, catalogs)))


@lru_cache(maxsize=256)
def _host(name: str, catalogs: tuple[Path | str, ...]) -> Host:
    with _of_entry("host", name):
        entry = catalog.entry("host", name, catalogs)
        scale_up = ScaleUp(**_figures(entry.pop("scale_up")))
        return Host(name=name, gpu=gpu(entry.pop("gpu"), catalogs), scale_up=scale_up, **_figures(entry))


@contextmanager
def _of_entry(kind: str, name: str) -> Iterator[None]:
    """Say of what is wrong with an entry whose it is; the reader of scenarios finds all mistakes of one."""
    try:
        yield
    except ValueError as error:
        raise ScenarioError(f"{kind} {name} of the catalog: {error}") from None
    except (KeyError, TypeError, AttributeError):
        key = "cluster.host" if kind == "host" else "cluster.host.gpu"
        raise ScenarioError(
            f"{kind} {name} of the catalog: a key is missing, or has a value of the wrong kind; "
            f"`foretrain check tutorial/1-one-host --catalog DIR --set {key}={name}` says which"
        ) from None


def _figures(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry in SI units; what only documents it (source, aliases, note, ...) is left out."""
    parsed: dict[str, Any] = {key: entry[key] for key in _TEXTS if key in entry}
    parsed |= {key: str(entry[key]).lower() == "true" for key in _FLAGS if key in entry}
    parsed |= {key: units.parse(entry[key], "count") for key in _COUNTS if key in entry}
    for key, unit in _UNITS.items():
        if isinstance(value := entry.get(key), Mapping):
            parsed[key] = {dtype: units.parse(text, unit) for dtype, text in value.items()}
        elif value is not None:
            parsed[key] = units.parse(value, unit)
    return parsed
