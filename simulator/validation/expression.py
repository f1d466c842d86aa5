"""What a row says as a scenario, and what was assumed on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class InexpressibleError(Exception):
    """No scenario says what the row says; the message is the reason."""


@dataclass(frozen=True, kw_only=True)
class Expression:
    """A scenario as plain data, once for each microbatch size that the row leaves open."""

    scenarios: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = field(default=())
    """What the row did not say and a rule or the nearest entry stood in for."""
