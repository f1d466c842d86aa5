"""What a study varies: ``key=[a, b, c]`` or ``key={from: 1, to: 8, steps: 4}``, and the product of several.

Values are YAML, so that units, mappings and lists may stand in the list; each is handed on as text, on the path that
``--set`` takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import yaml

from simulator import units
from simulator.errors import ScenarioError
from simulator.scenario import yaml_text
from simulator.scenario.document import plain
from simulator.scenario.mistakes import Mistakes
from simulator.units import whole

MOST_POINTS = 1_000_000
_UNITS = ("s", "B/s", "B", "$")
"""Units in which values may be written in several ways, such as 5min and 1h."""
_NUMBER = re.compile(
    r"(?P<before>\$?)(?P<number>[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?P<after>\s*[^0-9.].*|)"
)


_OWNER = re.compile(r"(is a key of|unknown key of kind [\w-]+; it is one of) (?P<kind>[\w-]+)(;|$)")
"""How a message names the one kind that has a key."""


class Axis(NamedTuple):
    """A key and the values it takes, as texts."""

    key: str
    values: tuple[str, ...]

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers, in the unit they are written in where all have the same; None where they are words."""
        parts = [_NUMBER.fullmatch(value) for value in self.values]
        if not all(parts):
            return None
        if len({(part["before"], part["after"].strip()) for part in parts if part}) == 1:
            return tuple(float(part["number"]) for part in parts if part)
        return next((found for unit in _UNITS if (found := _all(self.values, unit)) is not None), None)

    @property
    def unit(self) -> str:
        """What stands behind all numbers, such as ``min``; empty where that differs."""
        parts = [_NUMBER.fullmatch(value) for value in self.values]
        found = {part["after"].strip() or part["before"] for part in parts if part}
        return found.pop() if len(found) == 1 else ""


def _all(values: tuple[str, ...], unit: str) -> tuple[float, ...] | None:
    try:
        return tuple(units.parse(value, unit) for value in values)
    except ValueError:
        return None


Choice = tuple[tuple[str, str], ...]
"""A value for each key."""


def axis(text: str) -> Axis:
    """Return the axis that one ``--vary`` says.

    >>> axis("cluster.hosts=[8, 16]")
    Axis(key='cluster.hosts', values=('8', '16'))
    >>> axis("cluster.host.nic_bandwidth={from: 200Gbps, to: 400Gbps, steps: 3}").values
    ('200Gbps', '300Gbps', '400Gbps')
    """
    key, equals, written = text.partition("=")
    key = key.strip()
    if not equals or not key or not written.strip():
        raise ScenarioError(f"--vary {text[:80]}: write KEY=[VALUE, VALUE], such as --vary cluster.hosts=[8,16,32]")
    mistakes = Mistakes()
    value = yaml_text.read(written, f"--vary {key}", mistakes)
    mistakes.stop()
    value = plain(value)
    if isinstance(value, dict) and {"from", "to", "steps"} >= value.keys() and {"from", "to"} <= value.keys():
        return Axis(key, _steps(key, **{f"{name}_": item for name, item in value.items()}))
    if isinstance(value, str) and "," in value:
        raise ScenarioError(f"--vary {key}: write a list, [{value[:80]}]")
    values = tuple(map(flow, value if isinstance(value, list) else [value]))
    if not values:
        raise ScenarioError(f"--vary {key}: an empty list leaves nothing to try")
    return Axis(key, tuple(dict.fromkeys(values)))


def choices(axes: Sequence[Axis]) -> Iterator[Choice]:
    """Yield the product of the values, the last key fastest."""
    keys = [one.key for one in axes]
    if len(set(keys)) < len(keys):
        raise ScenarioError(f"--vary {next(key for key in keys if keys.count(key) > 1)}: given twice; write one list")
    count = 1
    for one in axes:
        count *= len(one.values)
    if count > MOST_POINTS:
        raise ScenarioError(f"--vary: {count:,} points; {MOST_POINTS:,} is the most that a study may have")
    for values in product(*(one.values for one in axes)):
        yield tuple(zip(keys, values, strict=True))


def blamed(error: ScenarioError, changes: Sequence[str]) -> ScenarioError:
    """Return a mistake in a varied key as one of ``--vary``, with the kind that would take the key."""
    lines = []
    for line in str(error).splitlines():
        change = next((change for change in changes if f"--set {change[:60]}: " in line), None)
        if change is not None:
            line = line.replace(f"--set {change[:60]}: ", f"--vary {change[:60]}: ")
            parent, _, _ = change.partition("=")[0].rpartition(".")
            owner = _OWNER.search(line)
            line += f"; add --set {parent}.kind={owner['kind']}" if owner and parent else ""
        lines.append(line)
    return ScenarioError("\n".join(lines))


def flow(value: Any) -> str:
    """Return plain data as YAML on one line.

    >>> flow({"kind": "fixed", "interval": "10min"}), flow(["1", 7]), flow(None), flow(True), flow("[😀]")
    ('{kind: fixed, interval: 10min}', '[1, 7]', 'null', 'true', '"[😀]"')
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    quoted = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf")).rstrip("\n")
    try:
        return text if yaml.load(f"[{text}]", yaml.BaseLoader) == [text] and text else quoted
    except (yaml.YAMLError, RecursionError):
        return quoted


def _steps(key: str, from_: str, to_: str, steps_: str = "5") -> tuple[str, ...]:
    """Return evenly spaced values from the first to the last, in the unit of both."""
    ends = Axis(key, (str(from_), str(to_)))
    numbers, parts = ends.numbers, [_NUMBER.fullmatch(value) for value in ends.values]
    if numbers is None or len({(part["before"], part["after"].strip()) for part in parts if part}) != 1:
        raise ScenarioError(f"--vary {key}: `from: {from_}` and `to: {to_}` are not two numbers with the same unit")
    count = whole(str(steps_))
    if count is None or not 2 <= count <= MOST_POINTS:
        said = f"`steps: {str(steps_)[:40]}`"
        raise ScenarioError(f"--vary {key}: {said} is not a whole number from 2 to {MOST_POINTS:,}")
    first, last = numbers
    part = parts[0]
    assert part is not None
    texts = (f"{first + (last - first) * step / (count - 1):.10g}" for step in range(count))
    return tuple(dict.fromkeys(f"{part['before']}{text}{part['after']}" for text in texts))
