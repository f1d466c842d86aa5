"""When a key matters: a line for each that has no effect in some scenarios, with why not there and what is needed.

A line may only say that a key has no effect where no result changes with it; tests hold each to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simulator.scenario.here import Here
from simulator.scenario.written import Written


class Line(NamedTuple):
    keys: str
    """Dotted, without places in lists, with spaces between several; ``*`` stands for all below."""
    matters: Callable[[Here, Written], bool]
    why: str
    """Why the key has no effect where it does not matter."""
    needs: str
    """What would make it matter."""
