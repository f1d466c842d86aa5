"""A drawing as the bytes of a file, the same every time."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEFT_OUT = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None},
}
"""What a format would say of the day and of the program that drew it."""


def content(figure: Figure, suffix: str) -> bytes:
    """Return `figure` in the format of a suffix, ``.png``, ``.svg`` or ``.pdf``."""
    drawn = BytesIO()
    figure.savefig(drawn, format=suffix.removeprefix("."), metadata=_LEFT_OUT[suffix])
    return drawn.getvalue()
