"""Which model a row trained: the entry of the catalog where the row names it, with the row's own dimensions."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from simulator import catalog
from simulator.validation import phrases, rules
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row

PUBLISHED_POSITIONS = 2048
"""Rows of a table of learned positions where an entry does not say."""


def model(row: Row) -> dict[str, Any]:
    """Return the model section of the row."""
    base = _entry(row)
    layers, hidden = row.whole("layers"), row.whole("hidden")
    if base is None and not (layers and hidden):
        raise InexpressibleError("the dimensions of the model are not stated")
    stated = _stated(row)
    section = {"base": base.name, **stated, **_positions(row, base)} if base else _inline(row, stated)
    attention = _attention(row, base is not None)
    return section | attention | _experts(row) | phrases.said("model", row.text("notes"))


class Entry(NamedTuple):
    """What is needed of a model of the catalog."""

    name: str
    layers: int
    hidden: int
    positions: int | None
    """Learned positions; None where positions are of another kind."""


def _entry(row: Row) -> Entry | None:
    """Return the model of the catalog that the row names, if the row has its layers and width (or states none)."""
    entry = _known(re.sub(r"\s*\(.*\)", "", row.text("model_name")))
    if entry is None:
        return None
    same = row.whole("layers") in (None, entry.layers) and row.whole("hidden") in (None, entry.hidden)
    return entry if same else None


@cache
def _known(name: str) -> Entry | None:
    try:
        entry = catalog.entry("model", name)
    except catalog.UnknownEntryError:
        return None
    learned = entry.get("positions") == "learned"
    return Entry(
        name=catalog.canonical("model", name),
        layers=int(entry["layers"]),
        hidden=int(entry["hidden"]),
        positions=int(entry.get("max_positions", PUBLISHED_POSITIONS)) if learned else None,
    )


def _stated(row: Row) -> dict[str, Any]:
    columns = {
        "layers": row.whole("layers"),
        "hidden": row.whole("hidden"),
        "heads": row.whole("heads"),
        "kv_heads": row.whole("kv_heads"),
        "head_size": row.whole("head_dim"),
        "ffn": row.whole("ffn"),
        "vocabulary": row.whole("vocab"),
        "gated": row.flag("gated_mlp"),
        "tied": row.flag("tie_embeddings"),
    }
    return {name: value for name, value in columns.items() if value is not None}


def _positions(row: Row, base: Entry) -> dict[str, int]:
    """Return as many learned positions as the row's sequences need, which benchmarks stretch beyond the published."""
    sequence = row.whole("seq") or 0
    return {} if base.positions is None or sequence <= base.positions else {"max_positions": sequence}


def _inline(row: Row, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the stated dimensions, completed by the rules."""
    hidden = stated["hidden"]
    gate = stated.get("gated", rules.gated(hidden, stated.get("ffn")))
    completed = {
        "heads": rules.heads(hidden),
        "ffn": rules.ffn(hidden, gate),
        "vocabulary": rules.vocabulary(),
        "gated": gate,
        "tied": rules.tied(gate),
        **rules.style(gate, row.whole("seq") or 2048),
    }
    return completed | stated


def _attention(row: Row, in_catalog: bool) -> dict[str, Any]:
    notes = row.text("notes")
    if sizes := phrases.LATENT.search(notes):
        names = ("q_rank", "kv_rank", "nope_size", "rope_size", "value_size")
        return {"attention": {"kind": "mla", **dict(zip(names, map(int, sizes.groups()), strict=True))}}
    if window := phrases.WINDOW.search(notes):
        every = {"full_every": 2} if window[1] else {}
        return {"attention": {"window": int(window[2]), **every}}
    if row.text("attention") == "mla" and not in_catalog:
        return {"attention": {"kind": "mla", **rules.latent()}}
    return {}


def _experts(row: Row) -> dict[str, Any]:
    count = row.whole("experts")
    if not count:
        return {}
    active, width, layers = row.whole("top_k"), row.whole("moe_ffn"), row.whole("layers") or 0
    if not (active and width):
        raise InexpressibleError("how many experts a token visits, or how wide they are, is not stated")
    placed = rules.dense_layers(layers, row.whole("dense_layers") or 0)
    shared = row.whole("shared_experts") or 0
    return {"experts": {"count": count, "active": active, "ffn": width, "shared": shared, **placed}}
