"""One word, read as what its field wants: a quantity, a choice, true or false, or just text."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticCustomError

from simulator import units
from simulator.scenario.document import Failed
from simulator.scenario.mistakes import did_you_mean
from simulator.scenario.shape import Choice, Flag, Quantity, Shape

NOTED = "noted"
"""Type of the error about a value that was noted before validation."""


def skip_noted(data: Any) -> None:
    """Stop at a value about which a mistake has been noted already."""
    if isinstance(data, Failed):
        raise PydanticCustomError(NOTED, "noted")


def scalar(shapes: tuple[Shape, ...], data: Any) -> Any:
    """Return what a word means as the first of `shapes` that can read it."""
    skip_noted(data)
    if not isinstance(data, str):
        raise ValueError(f"a {form(data)} where {_or(shapes)} belongs")
    if data == "":
        raise ValueError(f"has no value; write {_or(shapes)}, or leave the key out")
    errors = []
    for wanted in shapes:
        try:
            return _read(wanted, data)
        except ValueError as error:
            errors.append(error)
    raise errors[0] if len(errors) == 1 else ValueError(f"`{data[:40]}` is not {_or(shapes)}")


def _read(wanted: Shape, word: str) -> Any:
    match wanted:
        case Quantity(unit):
            return units.parse(str(word), unit)
        case Flag():
            if word.lower() in ("true", "false"):
                return word.lower() == "true"
            raise ValueError(f"`{word[:40]}` is neither `true` nor `false`")
        case Choice(values):
            for value in values:
                if str(value) == word:
                    return value
            raise ValueError(f"unknown value `{word[:40]}`; {did_you_mean(word, map(str, values))}")
    return str(word)


def _or(shapes: tuple[Shape, ...]) -> str:
    return " or ".join(expected(wanted) for wanted in shapes)


def expected(wanted: Shape) -> str:
    """Return what a word of this shape is."""
    match wanted:
        case Quantity(unit):
            return units.EXPECTED[unit]
        case Flag():
            return "`true` or `false`"
        case Choice(values):
            return "one of " + ", ".join(map(str, values))
    return "text"


def form(data: Any) -> str:
    """Return which of the three forms of YAML `data` has."""
    return "mapping" if isinstance(data, dict) else "list" if isinstance(data, list) else "scalar"


def form_of(value: Any) -> str:
    """Return the form of YAML from which an object was made."""
    if isinstance(value, tuple | list):
        return "list"
    return "scalar" if isinstance(value, str | int | float) else "mapping"
