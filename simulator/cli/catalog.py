"""Show what is known: hardware, models, software stacks, failure presets, with sources."""

from __future__ import annotations


def command() -> None:
    """Show."""
