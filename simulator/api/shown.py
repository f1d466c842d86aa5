"""What every answer can do: print as in the terminal, show in a notebook, become plain data or a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page

if TYPE_CHECKING:
    import pandas


class Shown:
    """An answer with a text of its own."""

    def text(self) -> Page:
        """Return the answer as the command line prints it, 80 columns wide."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"


class Rows(Shown):
    """An answer of several rows, each a mapping of columns in SI units that carry the unit in their name."""

    rows: Sequence[Mapping[str, Any]]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a data frame; raises ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame(list(self.rows))
