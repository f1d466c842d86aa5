"""Scaling laws, one file each; a law is found by being here."""

from __future__ import annotations

from simulator import plugins
from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.studies.plan.laws.base import Law

DEFAULT = "besiroglu-2024"
"""Chinchilla's data fitted with care: the one law whose three ways to fit agree."""


def laws() -> dict[str, Law]:
    """Return every published law by name, and those of plugins."""
    folders = __name__, plugins.PREFIX
    return {name: kind() for name, kind in members(Law).items() if kind.__module__.startswith(folders)}


def law(name: str) -> Law:
    """Return the law `name`, or say which there are."""
    from difflib import get_close_matches

    known = laws()
    if name not in known:
        near = get_close_matches(name, known, n=2, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise ScenarioError(f"no scaling law named {name[:60]!r}; {hint}")
    return known[name]
