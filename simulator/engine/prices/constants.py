"""The constants that were learned from whole runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from simulator import catalog
from simulator.machine.kernels import gemm
from simulator.scenario.scenario import Scenario
from simulator.units import Number
from simulator.workload.stack import Stack


@dataclass(frozen=True)
class Constant:
    """A factor on a rate, with its prior and bounds (`calibration/shared.yaml`)."""

    group: str
    """products, grouped, attention, elementwise, exchange or software."""
    key: str
    """An architecture, an architecture and a precision, an attention kernel, an axis, or a framework and its year."""
    value: Number
    prior: Number
    low: Number
    high: Number
    spread: Number = 0.05
    """Standard deviation of the prior, in ln."""

    @property
    def name(self) -> str:
        return f"{self.group} {self.key}"

    def with_value(self, value: Number) -> Constant:
        return replace(self, value=value)

    def concerns(self, scenario: Scenario) -> bool:
        """Return whether a run may teach it: runs with experts, whose software changes by the month, only their own."""
        words = self.key.split()
        mixture = scenario.model is not None and scenario.model.experts is not None
        if mixture != (self.group in ("grouped", "exchange")):
            return False
        if self.group == "software":
            stack = scenario.stack
            return any(_software(stack, name) for name in self.key.split(", "))
        gpu = scenario.cluster.host.gpu
        same = words[0] in (gpu.architecture, scenario.stack.attention, "all", "expert")
        return same and (len(words) == 1 or words[1] == scenario.training.precision.kind)


def _software(stack: Stack, name: str) -> bool:
    framework, _, year = name.partition(" ")
    return stack.framework == framework and year in ("", str(stack.year))


@dataclass(frozen=True, eq=False)
class Shared:
    """The constants at work, by group and key; prices are kept by the object."""

    factors: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)

    @classmethod
    def of(cls, constants: Iterable[Constant]) -> Shared:
        factors: dict[str, dict[str, Number]] = {}
        for constant in constants:
            for key in constant.key.split(", "):
                factors.setdefault(constant.group, {})[key] = constant.value
        return cls(factors)

    def rate(self, group: str, *keys: str) -> Number:
        """Return the factor of the first key that is known; 1 where none is."""
        known = self.factors.get(group, {})
        return next((known[key] for key in keys if key in known), 1.0)


def of_products(architecture: str, dtype: str) -> tuple[str, ...]:
    """Return the keys of the factor on products of a format, the nearest first: blocks of fp8 share that of fp8."""
    return f"{architecture} {dtype}", f"{architecture} {gemm.PEAK_OF.get(dtype, dtype)}", architecture


@cache
def constants() -> tuple[Constant, ...]:
    """Return the constants that ship."""
    entry = catalog.entry("calibration", "shared")
    return tuple(
        Constant(group, key, **{name: float(number) for name, number in one.items()})
        for group, members in entry["constants"].items()
        for key, one in members.items()
    )


@cache
def shared() -> Shared:
    return Shared.of(constants())


@cache
def unfitted() -> Shared:
    """Return the constants at their priors."""
    return Shared.of(constant.with_value(constant.prior) for constant in constants())
