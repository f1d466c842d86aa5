"""Every number that a scenario may say, and a small scenario with any value in its place.

Found in the shapes that the reader derives from the dataclasses, so that a key or a kind that is added is tried too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from simulator.scenario.sections import SHAPES
from simulator.scenario.shape import (
    Anything,
    Choice,
    Either,
    Flag,
    Kinds,
    Listing,
    Named,
    Quantity,
    Record,
    Shape,
    Text,
)
from simulator.scenario.shorthand import CATALOG_KIND

Document = dict[str, Any]
Build = Callable[[Any], Any]
"""Puts a value in its place: gives the section, or the part of one, that holds it."""

START: Document = {
    "model": {"base": "llama-3.1-8b"},
    "cluster": {"host": {"base": "hgx-h100"}, "hosts": 4, "spares": 1},
    "stack": {"base": "generic"},
    "parallelism": {"tensor": 4},
    "training": {"tokens": "10G", "sequence_length": 8192, "global_batch": 64},
    "failures": {"preset": "llama3"},
    "checkpoint": {"kind": "young-daly"},
    "recovery": {"kind": "restart", "repair": "24h"},
    "prices": {"gpu_hour": "$2"},
    "runs": 1,
}
"""Where a number is put; the sections that hold it are laid over these."""
SIZES: dict[str, Document] = {
    "small": {},
    "wide": {"cluster": {"hosts": 1_000_000}, "training": {"global_batch": 2_000_000}},
    "deep": {
        "model": {"layers": 2_000},
        "cluster": {"hosts": 250},
        "parallelism": {"tensor": 1, "pipeline": 2_000},
        "training": {"global_batch": 8, "microbatch": 1},
    },
    "experts": {"model": {"base": "mixtral-8x7b", "experts": {"count": 64}}, "parallelism": {"expert": 4}},
    "torus": {"cluster": {"topology": {"kind": "torus"}, "hosts": 512}, "training": {"global_batch": 1024}},
}
"""What may be laid over it first."""
BASES = {"model": "llama-3.1-8b", "host": "hgx-h100", "gpu": "h100-sxm-80gb", "stack": "generic"}
USUAL = {"s": "1h", "B": "1GB", "B/s": "1GB/s", "FLOP/s": "1TFLOPS", "W": "100W", "$": "$1", "share": "10%"}
"""What stands in keys that must be given beside the one in question."""
WORDS = {"unit": "gpu", "effect": "crash", "file": "log.csv"}
NAMES = {"peak": "bf16", "best_matmul": "bf16", "expect": "step.mfu"}
"""Keys of mappings in which any may stand."""
BESIDE = {
    "training.duration": {"tokens": None},
    "training.steps": {"tokens": None},
    "failures.causes": {"preset": None},
}
"""What must be said otherwise where such a key is given."""


@dataclass(frozen=True)
class Spot:
    """A place for a number."""

    keys: tuple[str | int, ...]
    """The path as `simulator.scenario.limits` names it."""
    kinds: tuple[str, ...]
    """The kinds that have the key."""
    unit: str
    build: Build

    @property
    def name(self) -> str:
        return " ".join([".".join(map(str, self.keys)), *self.kinds])

    def written(self, number: float) -> Document:
        """Return the section that says `number` here."""
        return {str(self.keys[0]): self.build(text(number, self.unit))}


def text(number: float, unit: str) -> str:
    """Return a number as a scenario writes it."""
    plain = f"{number:.17g}"
    if unit.startswith("$"):
        return f"${number:.17f}".rstrip("0").rstrip(".") + unit[1:] if number < 1e15 else f"${plain}{unit[1:]}"
    return plain + {"count": "", "number": "", "share": "", "kg/kWh": "t/MWh", "FLOP/s": "FLOPS"}.get(unit, unit)


def spots() -> list[Spot]:
    """Return every place for a number."""
    return [spot for name, field in SHAPES.items() for spot in _spots(field.shape, (name,), (), lambda inner: inner)]


def _spots(wanted: Shape, keys: tuple[str | int, ...], kinds: tuple[str, ...], build: Build) -> Iterator[Spot]:
    match wanted:
        case Quantity(unit):
            yield Spot(keys, kinds, unit, build)
        case Record():
            for name, field in wanted.fields.items():
                yield from _spots(field.shape, (*keys, name), kinds, _within(wanted, name, build))
        case Kinds(records=records):
            for record in records:
                if record.kind != "trace":
                    yield from _spots(record, keys, (*kinds, str(record.kind)), build)
        case Listing(items):
            for place, item in enumerate(items):
                yield from _spots(item, (*keys, place), kinds, lambda inner: build([inner]))
        case Named(values) if not isinstance(values, Anything):
            yield from _spots(values, (*keys, NAMES[str(keys[-1])]), kinds, _named(str(keys[-1]), build))
        case Either(members):
            for member in members:
                yield from _spots(member, keys, kinds, build)


def _within(record: Record, name: str, build: Build) -> Build:
    """Return what puts a value under the key `name` of a record, beside the keys that it must have."""
    beside: Document = {"kind": record.kind} if record.kind else {}
    if record.cls in CATALOG_KIND:
        beside = {"base": BASES[CATALOG_KIND[record.cls]]}
    else:
        beside |= {key: usual(field.shape, key) for key, field in record.fields.items() if field.required}
    return lambda inner: build({**beside, name: inner})


def _named(key: str, build: Build) -> Build:
    return lambda inner: build({NAMES[key]: inner})


def usual(wanted: Shape, key: str) -> Any:
    """Return something that may stand where `wanted` must."""
    match wanted:
        case Quantity(unit):
            return USUAL.get(unit, 2)
        case Text():
            return WORDS.get(key, "any")
        case Choice(values):
            return WORDS.get(key, values[0])
        case Flag():
            return "true"
        case Listing(items):
            return [usual(items[0], key)]
        case Named(values):
            return {NAMES.get(key, "any"): usual(values, key)}
        case Record(cls=cls) if cls in CATALOG_KIND:
            return BASES[CATALOG_KIND[cls]]
        case Record():
            return {name: usual(field.shape, name) for name, field in wanted.fields.items() if field.required}
        case Kinds(records=records):
            return {"kind": records[0].kind, **usual(records[0], key)}
        case Either(members):
            return usual(members[0], key)
    raise AssertionError(wanted)


def scenario(*sections: Document) -> Document:
    """Return the usual scenario with these sections laid over it."""
    found = START
    for section in sections:
        found = laid_over(found, section)
    for key, beside in BESIDE.items():
        section, name = key.split(".")
        if any(name in (one.get(section) or {}) for one in sections if isinstance(one.get(section), dict)):
            found = laid_over(found, {section: beside})
    return found


def laid_over(below: Document, above: Document) -> Document:
    """Return a mapping with another over it, mapping by mapping; another kind replaces all."""
    found = dict(below)
    for key, value in above.items():
        there = found.get(key)
        if (
            isinstance(there, dict)
            and isinstance(value, dict)
            and there.get("kind") == value.get("kind", there.get("kind"))
        ):
            found[key] = laid_over(there, value)
        else:
            found[key] = value
    return found
