"""Defaults of a run that are better than what published runs had, in one line."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from simulator.units import Count


class Assumed(Protocol):
    """A value that the scenario left open."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...


class Flattering(NamedTuple):
    """A key whose default is on the optimistic side."""

    key: str
    published: str
    """What published runs had instead, with the source."""
    gpus: Count = 1
    """The smallest job for which that is worse than the default."""


PUBLISHED = (
    Flattering("recovery.detect", "a hang waits 10 min for the timeout of a collective (arXiv 2509.16293, table 3)"),
    Flattering("recovery.diagnose", "to find the machine took 2 to 15 min (arXiv 2509.16293, section 2.2)"),
    Flattering(
        "recovery.restart",
        "a restart took 9.1 min on 4,096 GPUs, 12.8 min on 16,384 (arXiv 2509.16293, table 7) and 15 min on 98,304 "
        "(arXiv 2602.00277, figure 2)",
        gpus=4096,
    ),
    Flattering("cluster.spares", "hosts were away for 2.2 h on average (arXiv 2503.11901)"),
)


def line(assumed: Collection[Assumed], gpus: Count) -> str | None:
    """Return which defaults of a job of `gpus` GPUs flatter it, and what published runs had; None if none does."""
    values = {one.key: one.value for one in assumed}
    found = [
        f"{one.key} {values[one.key]}, but {one.published}"
        for one in PUBLISHED
        if one.key in values and gpus >= one.gpus
    ]
    return f"optimistic defaults: {'; '.join(found)}" if found else None
