"""Documents to dataclasses: the pydantic schema of each shape, and its errors in words.

Schemas are derived from the shapes (`simulator.scenario.shape`) with pydantic's core schema; classes made for
them would take a tenth of a second to build before a scenario is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import SchemaValidator, ValidationError, core_schema

from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.scenario.document import Keys, Table, plain, written
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.scalar import NOTED, form, scalar, skip_noted
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
    bases,
    forms,
)
from simulator.scenario.shorthand import expanded
from simulator.scenario.wording import in_words

Schema = core_schema.CoreSchema


def build(wanted: Shape, data: Any, path: Keys, mistakes: Mistakes) -> Any:
    """Return the object of shape `wanted` that `data` at `path` says, or None and note every mistake."""
    try:
        return _validator(wanted).validate_python(data)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            if one["type"] == NOTED:
                continue
            below, message, at_key = in_words(wanted, one)
            below = below if at_key else written(data, below)
            mistakes.add((*path, *below), message, data=data, above=len(path), key=at_key)
    return None


_VALIDATORS: dict[Shape, tuple[dict[type, list[type]], SchemaValidator]] = {}
"""Of each shape, with the kinds that there were when it was made."""


def _validator(wanted: Shape) -> SchemaValidator:
    """Return the validator of a shape, made anew where a kind has come since."""
    known, validator = _VALIDATORS.get(wanted, (None, None))
    if validator is None or known is None or any(list(members(base).values()) != old for base, old in known.items()):
        known = {base: list(members(base).values()) for base in bases(wanted)}
        validator = SchemaValidator(_schema(wanted))
        _VALIDATORS[wanted] = known, validator
    return validator


def _schema(wanted: Shape) -> Schema:
    match wanted:
        case Quantity() | Flag() | Text() | Choice():
            return _word((wanted,))
        case Anything():
            return core_schema.no_info_plain_validator_function(plain)
        case Listing(items, fixed=True):
            return _before(_is_list, core_schema.tuple_schema([_schema(item) for item in items]))
        case Listing((item,)):
            listed = core_schema.tuple_schema([_schema(item)], variadic_item_index=0)
            return _before(_is_list, listed)
        case Named(values):
            return _before(_is_mapping, core_schema.dict_schema(core_schema.any_schema(), _schema(values)))
        case Record():
            return _before(partial(_expand, wanted), _record(wanted))
        case Kinds(records=records):
            choices = {str(record.kind): _record(record) for record in records}
            return _before(partial(_choose, wanted), core_schema.tagged_union_schema(choices, "kind"))
        case Either():
            found = {tag: _member(shapes) for tag, shapes in forms(wanted).items()}
            return core_schema.tagged_union_schema(found, form)
    raise AssertionError(wanted)


def _before(function: Callable[[Any], Any], schema: Schema) -> Schema:
    return core_schema.no_info_before_validator_function(function, schema)


def _member(shapes: tuple[Shape, ...]) -> Schema:
    """Return the schema of the members of one form; only scalars can be several."""
    return _schema(shapes[0]) if len(shapes) == 1 else _word(shapes)


def _word(shapes: tuple[Shape, ...]) -> Schema:
    return core_schema.no_info_plain_validator_function(partial(scalar, shapes))


def _record(record: Record) -> Schema:
    known = {
        name: core_schema.typed_dict_field(_schema(field.shape), required=field.required)
        for name, field in record.fields.items()
    }
    if record.kind:
        known["kind"] = core_schema.typed_dict_field(core_schema.any_schema(), required=False)
    return core_schema.no_info_after_validator_function(
        partial(_make, record), core_schema.typed_dict_schema(known, extra_behavior="forbid")
    )


def _make(record: Record, values: dict[str, Any]) -> Any:
    if record.kind:
        values.pop("kind", None)
    try:
        return record.cls(**values)
    except ScenarioError as error:
        raise ValueError(str(error)) from None


def _is_list(data: Any) -> Any:
    skip_noted(data)
    if not isinstance(data, list):
        raise ValueError("has no value; write a list" if data == "" else f"a {form(data)} where a list belongs")
    return data


def _is_mapping(data: Any) -> Any:
    skip_noted(data)
    if not isinstance(data, dict):
        raise ValueError("has no value; write keys" if data == "" else f"a {form(data)} where keys and values belong")
    return data


def _expand(record: Record, data: Any) -> Any:
    skip_noted(data)
    data = expanded(record, data)
    if not isinstance(data, dict):
        known = ", ".join(record.fields)
        said = "has no value" if data == "" else f"a {form(data)} where keys belong"
        raise ValueError(f"{said}; write some of {known}")
    return data


def _choose(choices: Kinds, data: Any) -> Any:
    skip_noted(data)
    data = expanded(choices, data)
    if not isinstance(data, dict):
        said = "has no value" if data == "" else f"a {form(data)} where a kind belongs"
        raise ValueError(f"{said}; one of {', '.join(choices.words)}")
    if "kind" in data:
        return data
    made = Table({**data, "kind": _kind(choices, data)})
    made.place = getattr(data, "place", None)
    return made


def _kind(choices: Kinds, data: dict[Any, Any]) -> str:
    """Return the kind that a mapping without one means: the default where it has the keys, or the only one that has."""
    fitting = [str(record.kind) for record in choices.records if data.keys() <= record.fields.keys()]
    if choices.default in fitting or not choices.records:
        return str(choices.default)
    if choices.guessed and fitting and data:
        return fitting[0]
    known = {key for record in choices.records for key in record.fields}
    owners = {key: [str(r.kind) for r in choices.records if key in r.fields] for key in data if key in known}
    rare = next((f"`{key}` is a key of {' and '.join(of)}; " for key, of in owners.items() if len(of) < 3), "")
    raise ValueError(f"`kind` is missing; {rare}one of {', '.join(choices.words)}")
