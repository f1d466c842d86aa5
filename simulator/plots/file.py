"""Writes a drawing to its file, or says that it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(figure: Figure, path: Path, metadata: Mapping[str, None] | None) -> None:
    """Write `figure` in the format of its suffix; half a picture does not stay."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata=metadata)
    except OSError as error:
        if path.is_file():
            path.unlink()
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None
