"""How far published sources of one setting are apart: nothing can honestly be nearer to all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simulator.units import Share
from simulator.validation.lines import Line


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting that several sources measured."""

    name: str
    rates: tuple[float, ...]
    """Of each source, lowest first; the median where a source has several."""

    @property
    def width(self) -> Share:
        """Highest over lowest, minus one."""
        return self.rates[-1] / self.rates[0] - 1


@dataclass(frozen=True, kw_only=True)
class Spread:
    settings: int
    median: Share
    """Of highest over lowest, minus one."""
    mape: Share
    """Mean error of the sources against their own median, the least that any prediction can have."""
    widest: tuple[Setting, ...]
    """The widest first."""


def spread(lines: Iterable[Line], groups: Iterable[str], most: int = 3) -> Spread | None:
    """Return how far the sources of the same setting are apart among lines of some size classes."""
    chosen = set(groups)
    found: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        if line.reported is not None and line.group in chosen:
            name, source, rate = line.reported
            found.setdefault(name, {}).setdefault(source, []).append(rate)
    settings = [
        Setting(name=name, rates=tuple(sorted(float(np.median(rates)) for rates in sources.values())))
        for name, sources in found.items()
        if len(sources) > 1
    ]
    if not settings:
        return None
    apart = [abs(float(np.median(one.rates)) / rate - 1) for one in settings for rate in one.rates]
    return Spread(
        settings=len(settings),
        median=float(np.median([one.width for one in settings])),
        mape=float(np.mean(apart)),
        widest=tuple(sorted(settings, key=lambda one: -one.width)[:most]),
    )
