"""What pydantic found, in the words of the person who wrote the scenario."""

from __future__ import annotations

from typing import Any

from simulator.scenario.document import Keys
from simulator.scenario.mistakes import did_you_mean, listed
from simulator.scenario.shape import Either, Kinds, Listing, Named, Record, Shape, Text, forms


def in_words(wanted: Shape, error: Any) -> tuple[Keys, str, bool]:
    """Return the path below `wanted` that is wrong, the message, and whether the key itself is wrong."""
    path, shapes = _walk(wanted, error["loc"])
    holder = shapes[-2] if len(shapes) > 1 else None
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            if isinstance(holder, Listing):
                return path[:-1], f"a list of {len(holder.items)} belongs here", False
            return path[:-1], f"`{path[-1]}` is missing", False
        case "extra_forbidden":
            return path, _unknown(str(path[-1]), holder, shapes[-3] if len(shapes) > 2 else None), True
        case "union_tag_invalid":
            known = str(context["expected_tags"]).strip("'").split("', '")
            tag = str(context["tag"])
            if tag in ("mapping", "list", "scalar"):
                return path, f"a {tag} where a {' or a '.join(known)} belongs", False
            return (*path, "kind"), f"unknown kind `{tag[:40]}`; {did_you_mean(tag, known)}", False
        case "too_long" | "too_short":
            limit = context.get("max_length", context.get("min_length"))
            return path, f"a list of {context['actual_length']} where one of {limit} belongs", False
        case "value_error":
            return path, str(context["error"]), False
    return path, str(error["msg"]), False


def _walk(wanted: Shape, location: tuple[Any, ...]) -> tuple[Keys, list[Shape]]:
    """Return `location` without pydantic's tags, and the shapes from `wanted` to what is there."""
    path, shapes = [], [wanted]
    for part in location:
        below, is_tag = _below(shapes[-1], part)
        if not is_tag:
            path.append(part)
        shapes.append(below)
    return tuple(path), shapes


def _below(wanted: Shape, part: Any) -> tuple[Shape, bool]:
    match wanted:
        case Kinds():
            return wanted.record(str(part)) or Text(), True
        case Either():
            return forms(wanted).get(str(part), (Text(),))[0], True
        case Record():
            return wanted.fields[part].shape if part in wanted.fields else Text(), False
        case Listing(items, fixed):
            return items[part if fixed and part < len(items) else 0], False
        case Named(values):
            return values, False
    return Text(), False


def _unknown(key: str, holder: Shape | None, above: Shape | None) -> str:
    """Return what to say about a key that `holder` does not have; it may be one of another kind."""
    if not isinstance(holder, Record):
        return "unknown key; leave it out"
    if holder.kind is None:
        return f"unknown key; {did_you_mean(key, holder.fields)}"
    others = [str(record.kind) for record in above.records if key in record.fields] if isinstance(above, Kinds) else []
    if others:
        return f"unknown key of kind {holder.kind}; it is one of {listed(others)}"
    if not holder.fields:
        return f"unknown key; kind {holder.kind} takes no keys"
    return f"unknown key of kind {holder.kind}; {did_you_mean(key, holder.fields)}"
