"""One row of a table of measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a table: every cell as text, and the cells of number columns that are not empty as numbers."""

    line: int
    texts: Mapping[str, str]
    numbers: Mapping[str, float]

    def text(self, name: str) -> str:
        return self.texts.get(name, "")

    def real(self, name: str) -> float | None:
        return self.numbers.get(name)

    def whole(self, name: str) -> int | None:
        """Return the whole number next to the one in the cell; a part of one is as good as an empty cell."""
        value = self.numbers.get(name)
        return None if value is None or (value and not round(value)) else round(value)

    def flag(self, name: str) -> bool | None:
        text = self.text(name).lower()
        return None if not text else text not in ("0", "0.0", "false", "no")
