"""What a value may look like, read off the dataclasses that hold it.

A kind (a topology, a schedule, a checkpoint policy, ...) declares its own parameters as dataclass fields; the
shape of the input, its validation, its JSON Schema and its echo all follow from there, so that a new kind is one
file. A field with ``metadata={"input": False}`` is none of a scenario's business.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union

from simulator.kinds import NameOf, is_open, members
from simulator.units import FACTORS


@dataclass(frozen=True)
class Quantity:
    """A scalar that `simulator.units` reads."""

    unit: str


@dataclass(frozen=True)
class Flag:
    """``true`` or ``false``."""


@dataclass(frozen=True)
class Text:
    """Any text."""


@dataclass(frozen=True)
class Anything:
    """Whatever is written, as it is."""


@dataclass(frozen=True, match_args=False)
class Choice:
    """One of a few words, or the name of a kind of an open set."""

    given: tuple[str | int, ...] = ()
    base: type | None = None
    __match_args__ = ("values",)

    @property
    def values(self) -> tuple[str | int, ...]:
        return self.given if self.base is None else tuple(members(self.base))


@dataclass(frozen=True)
class Listing:
    """A list; with several `items` one shape for each place, else one for all."""

    items: tuple[Shape, ...]
    fixed: bool = False


@dataclass(frozen=True)
class Named:
    """A mapping whose keys are free."""

    values: Shape


@dataclass(frozen=True)
class Field:
    shape: Shape
    required: bool
    optional: bool
    """The value may be left out on purpose: its type allows None."""


@dataclass(frozen=True)
class Record:
    """A dataclass: a mapping with known keys."""

    cls: type
    kind: str | None = None
    """The word that chooses it among others."""

    @property
    def fields(self) -> Mapping[str, Field]:
        return fields(self.cls)


@dataclass(frozen=True)
class Kinds:
    """Records of which ``kind`` chooses one."""

    name: str
    base: type | None = None
    """Of an open set, whose kinds are looked up whenever they are asked for."""
    chosen: tuple[Record, ...] = ()
    """The records of a closed one."""
    guessed: bool = False
    """A mapping without ``kind`` is the one record that has its keys."""
    default: str | None = None
    """The kind of a mapping that names none."""
    bare: bool = False
    """One without keys is written as its kind alone."""
    short: tuple[str, str] | None = None
    """The kind and key for which a word that is no kind is short."""

    @property
    def records(self) -> tuple[Record, ...]:
        if self.base is None:
            return self.chosen
        found: dict[str, type] = members(self.base)
        return tuple(Record(cls, kind) for kind, cls in found.items())

    def record(self, kind: str) -> Record | None:
        return next((record for record in self.records if record.kind == kind), None)

    @property
    def words(self) -> list[str]:
        return [str(record.kind) for record in self.records]


@dataclass(frozen=True)
class Either:
    """Shapes told apart by form: a mapping, a list or a scalar."""

    members: tuple[Shape, ...]


Shape = Quantity | Flag | Text | Anything | Choice | Listing | Named | Record | Kinds | Either


def shape(annotation: Any) -> Shape:
    """Return the shape of a value of type `annotation`."""
    return _shape(annotation)


@cache
def _shape(annotation: Any) -> Shape:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        if named := next((item for item in arguments[1:] if isinstance(item, NameOf)), None):
            return Choice(base=named.base)
        unit = next((item for item in arguments[1:] if item in FACTORS), None)
        return Quantity(unit) if unit else shape(arguments[0])
    if origin in (Union, types.UnionType):
        return _union(tuple(item for item in arguments if item is not type(None)))
    if origin is Literal:
        return Choice(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return Listing(tuple(map(shape, arguments)), fixed=True)
    if origin in (tuple, list, Sequence):
        return Listing((shape(arguments[0]),))
    if origin in (dict, Mapping):
        return Named(shape(arguments[1]))
    scalars: dict[Any, Shape] = {bool: Flag(), str: Text(), int: Quantity("count"), float: Quantity("number")}
    if annotation is Any:
        return Anything()
    if annotation in scalars:
        return scalars[annotation]
    if is_open(annotation):
        default, short = getattr(annotation, "default_kind", None), getattr(annotation, "short_for", None)
        guessed, bare = (getattr(annotation, name, False) for name in ("guessed", "bare"))
        return Kinds(annotation.__name__, annotation, (), guessed, default, bare, short)
    if dataclasses.is_dataclass(annotation):
        return _record(typing.cast(type, annotation))
    raise TypeError(f"a scenario cannot say a value of type {annotation}")


@cache
def fields(cls: type) -> Mapping[str, Field]:
    """Return what a mapping that stands for `cls` may contain."""
    hints = typing.get_type_hints(cls, include_extras=True)
    known = {}
    for field in dataclasses.fields(cls):
        if not field.init or not field.metadata.get("input", True):
            continue
        required = field.default is MISSING and field.default_factory is MISSING
        optional = type(None) in typing.get_args(hints[field.name])
        wanted = shape(hints[field.name])
        if isinstance(wanted, Kinds) and field.default_factory is not MISSING:
            wanted = dataclasses.replace(wanted, default=field.default_factory().kind)
        known[field.name] = Field(wanted, required, optional)
    return known


def _record(cls: type) -> Record:
    kind = vars(cls).get("kind") if "kind" not in fields(cls) else None
    return Record(cls, kind if isinstance(kind, str) else None)


def _union(members: Sequence[Any]) -> Shape:
    shapes = [shape(member) for member in members]
    chosen = tuple(item for item in shapes if isinstance(item, Record) and item.kind)
    rest = [item for item in shapes if not (isinstance(item, Record) and item.kind)]
    if len(chosen) > 1:
        rest.insert(0, Kinds(" or ".join(record.cls.__name__ for record in chosen), None, chosen, guessed=True))
    else:
        rest[:0] = chosen
    return rest[0] if len(rest) == 1 else Either(tuple(rest))


def bases(wanted: Shape) -> Iterator[type]:
    """Yield the bases of the open sets that a value of this shape may hold, at any depth."""
    if isinstance(wanted, Kinds) and wanted.base is not None:
        yield wanted.base
    for inner in _inside(wanted):
        yield from bases(inner)


def _inside(wanted: Shape) -> Iterable[Shape]:
    match wanted:
        case Kinds(records=records):
            return records
        case Record():
            return [field.shape for field in wanted.fields.values()]
        case Either(members=shapes) | Listing(items=shapes):
            return shapes
        case Named(values=values):
            return [values]
    return ()


def forms(either: Either) -> dict[str, tuple[Shape, ...]]:
    """Return the members of each form; a scalar stands for a mapping's short form where no member is a scalar."""
    scalars = tuple(item for item in either.members if isinstance(item, Quantity | Flag | Text | Choice))
    mappings = tuple(item for item in either.members if isinstance(item, Record | Kinds | Named))
    lists = tuple(item for item in either.members if isinstance(item, Listing))
    found = {"mapping": mappings[:1], "list": lists[:1], "scalar": scalars or mappings[:1] or lists[:1]}
    return {tag: members for tag, members in found.items() if members}
