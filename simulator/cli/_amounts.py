"""Amounts on a command line: a bare number has the unit that the option names."""

from __future__ import annotations

from simulator.errors import ScenarioError

FALLBACKS = {"FLOP": "number", "$": "number", "$/h": "number", "FLOP/s": "number"}
"""What a bare number is read as, beside the unit."""


def amount(option: str, text: str | None, unit: str, bare: float | None = None) -> float | None:
    """Return the value of an option, or None where it is not given; `bare` is what a bare number counts in the unit."""
    if text is None:
        return None
    from simulator import units

    plain = FALLBACKS.get(unit) or ("number" if bare is not None else None)
    for kind, factor in ((plain, bare or 1.0), (unit, 1.0)):
        if kind is None:
            continue
        try:
            return units.parse(text, kind) * factor
        except ValueError as error:
            reason = str(error)
    if unit == "$" and not text.startswith("$"):
        return amount(option, f"${text}", unit)
    raise ScenarioError(f"{option}: {reason}")
