"""Which version of the program is running."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """Return the installed version, or ``0+source`` in a checkout that was never installed."""
    from importlib import metadata

    try:
        return metadata.version("foretrain")
    except metadata.PackageNotFoundError:
        return "0+source"
