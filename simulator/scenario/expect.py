"""The `expect` section: what a published run measured, so that the scenario is a test."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Number, Share


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What a value of the result must be; `value` with `within`, or a bound."""

    value: Number | None = None
    """What was measured."""
    within: Share | None = None
    """Relative distance from `value` that still counts."""
    at_least: Number | None = None
    """Least that the result may be."""
    at_most: Number | None = None
    """Most that the result may be."""

    def __post_init__(self) -> None:
        if (self.value is None) != (self.within is None):
            raise ValueError("`value` and `within` belong together, such as {value: 400, within: 8%}")
        if self.value is None and self.at_least is None and self.at_most is None:
            raise ValueError("write `value` and `within`, `at_least` or `at_most`")

    def as_dict(self) -> dict[str, float]:
        """Return what is given."""
        return {key: value for key, value in vars(self).items() if value is not None}
