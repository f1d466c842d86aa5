"""The JSON Schema of a scenario, from the same shapes that validate it, for editors and their completion.

Words stand for themselves there: a quantity is text with a unit, and a whole number may be written as one.
Descriptions are the docstrings of the fields.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import Any

from simulator.scenario.sections import Sections
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
from simulator.units import EXPECTED

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBERS = {"count": "integer", "number": "number", "share": "number"}
"""The units that may be written as a bare number."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario."""
    definitions: dict[str, Any] = {}
    whole = _mapping(Record(Sections), definitions)
    head = {"$schema": DIALECT, "title": "A foretrain scenario"}
    return head | whole | {"$defs": dict(sorted(definitions.items()))}


def _schema(wanted: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    match wanted:
        case Quantity(unit):
            text = {"type": "string", "description": EXPECTED[unit]}
            name = EXPECTED[unit].split(" such")[0].split(" ", 1)[1].replace(" ", "-")
            definitions[name] = {"anyOf": [{"type": NUMBERS[unit]}, text]} if unit in NUMBERS else text
            return _reference(name)
        case Flag():
            return {"type": "boolean"}
        case Text():
            return {"type": ["string", "number"]}
        case Choice(values):
            return {"enum": list(values)}
        case Anything():
            return {}
        case Listing(items, fixed):
            if fixed:
                listed = {"prefixItems": [_schema(item, definitions) for item in items], "maxItems": len(items)}
                return {"type": "array", "minItems": len(items)} | listed
            return {"type": "array", "items": _schema(items[0], definitions)}
        case Named(values):
            return {"type": "object", "additionalProperties": _schema(values, definitions)}
        case Record():
            return _record(wanted, definitions)
        case Kinds():
            return _kinds(wanted, definitions)
        case Either(members):
            return _any([_schema(member, definitions) for member in members])
    raise AssertionError(wanted)


def _record(record: Record, definitions: dict[str, Any]) -> dict[str, Any]:
    forms = [_defined(record, definitions)]
    if record.cls in CATALOG_KIND:
        kind = CATALOG_KIND[record.cls]
        forms.insert(0, {"type": "string", "description": f"a name that `foretrain catalog {kind}` lists"})
    elif hasattr(record.cls, "short_for"):
        forms.insert(0, {"type": "string", "description": f"short for {{{record.cls.short_for}: ...}}"})
    elif "kind" in record.fields:
        forms[:0] = [_schema(record.fields["kind"].shape, definitions)]
    if record.fields and (first := next(iter(record.fields))) != "kind":
        shape = record.fields[first].shape
        if isinstance(shape, Quantity | Choice) and record.cls not in CATALOG_KIND:
            forms.insert(0, _schema(shape, definitions))
    if hasattr(record.cls, "list_short_for"):
        forms.append(_schema(record.fields[record.cls.list_short_for].shape, definitions))
    return _any(forms)


def _kinds(choices: Kinds, definitions: dict[str, Any]) -> dict[str, Any]:
    alone = [record.kind for record in choices.records if not any(f.required for f in record.fields.values())]
    forms: list[dict[str, Any]] = [{"enum": alone}] if alone else []
    if choices.short and (record := choices.record(choices.short[0])):
        forms.append(_schema(record.fields[choices.short[1]].shape, definitions))
    return _any([*forms, *(_defined(record, definitions) for record in choices.records)])


def _defined(record: Record, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a reference to the definition of `record`; two classes of one name are told apart by their folder."""
    mapping = _mapping(record, definitions)
    name = record.cls.__name__
    if definitions.get(name, mapping) != mapping:
        name = record.cls.__module__.split(".")[-2].title() + name
    definitions[name] = mapping
    return _reference(name)


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _mapping(record: Record, definitions: dict[str, Any]) -> dict[str, Any]:
    described = descriptions(getattr(record.cls, "described_by", record.cls))
    properties: dict[str, Any] = {}
    if record.kind:
        properties["kind"] = {"const": record.kind}
    if record.cls in CATALOG_KIND:
        properties["base"] = {"type": "string", "description": "an entry of the catalog; the other keys change it"}
        if CATALOG_KIND[record.cls] == "model":
            properties["huggingface"] = {"type": "string", "description": "a config.json beside the scenario"}
    for name, field in record.fields.items():
        schema = _schema(field.shape, definitions)
        properties[name] = schema | ({"description": described[name]} if name in described else {})
    required = [name for name, field in record.fields.items() if field.required]
    if record.cls in CATALOG_KIND:
        required = []
    mapping = {"type": "object", "properties": properties, "additionalProperties": False}
    return mapping | ({"required": required} if required else {})


def _any(forms: list[dict[str, Any]]) -> dict[str, Any]:
    flat = [inner for form in forms for inner in (form["anyOf"] if set(form) == {"anyOf"} else [form])]
    different = [form for index, form in enumerate(flat) if form not in flat[:index]]
    return different[0] if len(different) == 1 else {"anyOf": different}


@cache
def descriptions(cls: type) -> dict[str, str]:
    """Return the docstring of each field of `cls` and its bases, on one line."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base is not object and base.__module__ != "abc":
            found |= _own(base)
    return found


def _own(cls: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):
        return {}
    body = tree.body[0].body  # type: ignore[attr-defined]
    return {
        field.target.id: " ".join(inspect.cleandoc(text.value.value).replace("``", "`").split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
