"""``--set a.b=value``: one key of the document changed, on the path that its text takes too.

The value is YAML. A mapping that is not there is made, a name on the way is written out (so that
``cluster.host.nics=4`` works on ``host: hgx-h100``), numbers step into lists, and ``null`` removes a key. Another
``kind`` takes along the keys that it knows too, so that ``checkpoint.kind=young`` works on one with an interval.
"""

from __future__ import annotations

import re
from typing import Any

from simulator.scenario import paths, yaml_text
from simulator.scenario.document import DEEPEST, Place, Table, Word
from simulator.scenario.merging import below
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.shape import Kinds, Record, Shape
from simulator.scenario.shorthand import expanded
from simulator.units import whole

_PART = re.compile(r"[^.\[\]=]+")


def apply(override: str, document: Table, wanted: Shape, mistakes: Mistakes) -> None:
    """Change `document`, which has the shape `wanted`, as the text `override` says."""
    place = Place(f"--set {override[:60]}")
    key, equals, text = override.partition("=")
    parts = _PART.findall(key.strip())
    if not equals or not parts:
        mistakes.add_at(place, (), "write KEY=VALUE, such as --set parallelism.tensor=4")
        return
    if len(parts) > DEEPEST:
        mistakes.add_at(place, (), f"nested more than {DEEPEST} deep")
        return
    lost = len(parts) == 1 and isinstance(wanted, Record) and parts[0] not in wanted.fields
    if lost and (meant := paths.hint(parts[0], wanted)):
        mistakes.add_at(place, (), f"unknown key; {meant}")
        return
    before = len(mistakes)
    value = yaml_text.read(text, place, mistakes) if text.strip() else Word()
    if len(mistakes) == before:
        value.place = place
        _put(document, wanted, parts, value, place, mistakes)


def _put(data: Any, wanted: Shape | None, parts: list[str], value: Any, place: Place, mistakes: Mistakes) -> None:
    here: Any = data
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        step = _step(here, part)
        if step is None:
            above = ".".join(parts[:number])
            mistakes.add_at(place, (), f"`{above}` is a list of {len(here)}, without item {part[:20]}")
            return
        if last:
            if step == "kind" and isinstance(wanted, Kinds):
                _leave_behind(here, wanted, value)
            _assign(here, step, value, place)
            return
        shape = below(wanted, step, here)
        there = here[step] if isinstance(step, int) else here.get(step)
        there = (
            expanded(shape, there)
            if shape and isinstance(there, str | list) and not _steps_in(there, parts, number)
            else there
        )
        if not isinstance(there, dict | list):
            there = Table()
            there.place = place
        _assign(here, step, there, place)
        here, wanted = there, shape


def _leave_behind(here: Any, wanted: Kinds, kind: Any) -> None:
    """Remove what the kind so far knows and `kind` does not."""
    before, after = wanted.record(str(here.get("kind", wanted.default))), wanted.record(str(kind))
    if before and after:
        for key in before.fields.keys() - after.fields.keys():
            here.pop(key, None)


def _steps_in(there: Any, parts: list[str], number: int) -> bool:
    """Return whether the next part counts items of a list."""
    return isinstance(there, list) and whole(parts[number + 1]) is not None


def _step(here: Any, part: str) -> str | int | None:
    if isinstance(here, dict):
        return part
    item = whole(part)
    return item if item is not None and item < len(here) else None


def _assign(here: Any, step: str | int, value: Any, place: Place) -> None:
    if isinstance(here, list):
        here[step] = value  # type: ignore[index]
        return
    if step in here:
        here[step] = value
        return
    word = Word(step)
    word.place = place
    here[word] = value
