"""What is known while a scenario is read: where names are looked up, and what has been noted so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.scenario.derive import build
from simulator.scenario.document import Keys, dotted
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.shape import Shape, shape


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """A value that the scenario did not give, and where it came from."""

    key: str
    value: str
    source: str


GENERIC = "generic"
"""The stack of GPUs that no vendor's own software is taken for."""


@dataclass(kw_only=True)
class Reading:
    folder: Path = Path()
    """Files are named from here."""
    only: Mapping[str, Path] | None = None
    """The only names that may be opened, and the files that they mean; any file where None."""
    catalogs: tuple[Path, ...] = ()
    stack: str = GENERIC
    """The entry of the stack that is meant where the scenario names none."""
    mistakes: Mistakes = field(default_factory=Mistakes)
    assumptions: list[Assumption] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of every file that was opened, by the name that the scenario gives it; empty where it cannot be read."""

    def build(self, wanted: Shape | type, data: Any, path: Keys) -> Any:
        """Return the object of that shape or class that `data` says, or None after noting every mistake."""
        return build(shape(wanted) if isinstance(wanted, type) else wanted, data, path, self.mistakes)

    def assume(self, path: Keys, value: str, source: str) -> None:
        self.assumptions.append(Assumption(key=dotted(path), value=value, source=source))
