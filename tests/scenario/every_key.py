"""Every key that a scenario may say, off the shapes that read it: a key or a kind that is added is there by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from simulator.scenario.calibration import Calibration
from simulator.scenario.sections import Sections
from simulator.scenario.shape import Choice, Either, Flag, Kinds, Listing, Named, Quantity, Record, Shape

IN_A_MAPPING = "bf16"
"""What stands for the free keys of a mapping."""


@dataclass(frozen=True)
class Key:
    """A key by the name that the table calls it: ``failures.causes[](weibull).shape``."""

    name: str
    shape: Shape
    shared: str = ""
    """Where all kinds of an open set have the key: the path of what has a kind."""
    kinds: tuple[str, ...] = ()
    """These kinds."""

    @property
    def path(self) -> str:
        """The key as ``--set`` writes it, in the first item of lists."""
        return written(self.name)

    @property
    def words(self) -> tuple[str, ...]:
        """All that may be written, where that can be counted."""
        match self.shape:
            case Choice(values):
                return tuple(map(str, values))
            case Flag():
                return ("true", "false")
            case Kinds():
                return tuple(self.shape.words)
        return ()


def written(name: str) -> str:
    return re.sub(r"\([^)]*\)", "", name).replace("[]", "[0]").replace("NAME", IN_A_MAPPING)


def every_key() -> dict[str, Key]:
    """Return every key of a scenario and of the calibration file that it names, by name."""
    found: dict[str, Key] = {}
    for start, path in ((Record(Sections), ""), (Record(Calibration), "calibration.")):
        for key in _keys(start, path):
            found.setdefault(key.name, key)
    return found


def _keys(wanted: Shape, path: str) -> Iterator[Key]:
    match wanted:
        case Record():
            for name, field in wanted.fields.items():
                yield from _keys(field.shape, f"{path}{name}" if path.endswith(".") or not path else f"{path}.{name}")
        case Kinds(short=short) if short:
            yield Key(path, Quantity("s"))
        case Kinds(records=records):
            yield Key(f"{path}.kind", wanted)
            shared = set.intersection(*(set(record.fields) for record in records))
            for record in records:
                for name, field in record.fields.items():
                    if name not in shared:
                        yield from _keys(field.shape, f"{path}({record.kind}).{name}")
                    elif record is records[0]:
                        for key in _keys(field.shape, f"{path}.{name}"):
                            yield Key(key.name, key.shape, path, tuple(wanted.words))
        case Listing(items):
            yield from _keys(items[0], f"{path}[]")
        case Named(values):
            yield from _keys(values, f"{path}.NAME")
        case Either(members):
            scalars = [member for member in members if isinstance(member, Quantity | Choice)]
            for member in members:
                form = member.unit if isinstance(member, Quantity) else "word"
                yield from _keys(member, f"{path}({form})" if member in scalars and len(scalars) > 1 else path)
        case _:
            yield Key(path, wanted)
