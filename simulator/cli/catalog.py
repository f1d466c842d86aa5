"""Show what is known: hardware, models, software, failures, with sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from simulator.cli._options import Catalogs, Json
from simulator.cli._streams import show, terminal
from simulator.errors import ScenarioError
from simulator.units import whole

COLUMNS = {
    "gpu": ("memory", "memory_bandwidth", "peak.bf16"),
    "host": ("gpu", "gpus", "nics", "nic_bandwidth"),
    "model": ("layers", "hidden", "vocabulary"),
    "stack": ("framework", "year"),
    "failures": ("gpus", "wall"),
}
"""Facts of an entry that its row shows, besides the source."""
OPEN = {
    "topology": "topologies",
    "collective": "simulator.machine.collectives",
    "schedule": "simulator.workload.schedules",
    "cause": "simulator.reliability.failures",
    "checkpoint": "simulator.reliability.checkpointing",
    "recovery": "simulator.reliability.recovery",
    "law": "simulator.studies.plan.laws",
}
"""Kinds that are code: each module of the folder is one."""

Kind = Annotated[
    str | None, typer.Argument(metavar="[KIND]", help="Such as gpu, host, model, stack, topology, scenario.")
]
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="An entry, or one of its aliases.")]


def command(kind: Kind = None, name: Name = None, catalogs: Catalogs = None, as_json: Json = False) -> None:
    """Show what the program knows, each entry with its source.

    Without arguments the kinds of entries; with a kind its entries; with a name
    the whole entry. The names are what a scenario may say.

    Examples:
      foretrain catalog
      foretrain catalog gpu
      foretrain catalog model llama-3.1-405b
      foretrain catalog topology
    """
    from simulator.catalog import KINDS

    folders = catalogs or []
    if kind is None:
        _table(("kind", "entries", "examples"), _kinds(folders), as_json)
    elif kind == "scenario":
        _table(("scenario", "says"), _scenarios(), as_json)
    elif kind not in (*KINDS, *OPEN):
        raise ScenarioError(f"no kind named {kind[:80]!r}; there are {', '.join((*KINDS, *OPEN, 'scenario'))}")
    elif kind in OPEN:
        _table((kind, "parameters", "says"), _open(kind, name), as_json)
    elif name is None:
        head = (kind, *(column.rpartition(".")[2] for column in COLUMNS.get(kind, ())), "source")
        _table(head, _entries(kind, folders), as_json)
    else:
        _entry(kind, name, folders, as_json)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]], as_json: bool) -> None:
    from simulator.io.printable import json_text
    from simulator.io.terminal import page, table

    if as_json:
        show(json_text([dict(zip(head, row, strict=True)) for row in rows]))
    else:
        show(page([table(head, rows)], terminal()))


def _kinds(folders: list[Path]) -> list[tuple[str, ...]]:
    from simulator import catalog, shipped

    known = {kind: list(catalog.names(kind, folders)) for kind in catalog.KINDS}
    known |= {kind: [name for name, *_ in _open(kind, None)] for kind in OPEN}
    known["scenario"] = shipped.names()
    return [(kind, str(len(names)), ", ".join(names[:3])) for kind, names in known.items()]


def _entries(kind: str, folders: list[Path]) -> list[tuple[str, ...]]:
    from simulator import catalog

    rows = []
    for name in catalog.names(kind, folders):
        try:
            entry = catalog.entry(kind, name, folders)
        except catalog.UnknownEntryError:
            rows.append((name, *("" for _ in COLUMNS.get(kind, ())), "a table; the name shows its rows"))
            continue
        facts = (_dig(entry, column) for column in COLUMNS.get(kind, ()))
        rows.append((name, *facts, " ".join(str(entry["source"]).split())))
    return rows


def _dig(entry: Any, path: str) -> str:
    for key in path.split("."):
        entry = entry.get(key, "") if isinstance(entry, dict) else ""
    return entry if isinstance(entry, str) else str(entry.get("base", "inline")) if isinstance(entry, dict) else ""


def _entry(kind: str, name: str, folders: list[Path], as_json: bool) -> None:
    import yaml

    from simulator import catalog
    from simulator.io.printable import json_text

    try:
        entry: Any = catalog.entry(kind, name, folders)
    except catalog.UnknownEntryError:
        entry = list(catalog.csv_rows(kind, name, folders))
    if as_json:
        show(json_text(entry))
    else:
        show(yaml.safe_dump(_numbers(entry), sort_keys=False, allow_unicode=True, width=78))


def _numbers(entry: Any) -> Any:
    """Return `entry` with whole numbers as such, so that they are written without quotes."""
    if isinstance(entry, dict):
        return {key: _numbers(value) for key, value in entry.items()}
    if isinstance(entry, list):
        return [_numbers(value) for value in entry]
    number = whole(entry) if isinstance(entry, str) else None
    return entry if number is None else number


def _open(kind: str, name: str | None) -> list[tuple[str, ...]]:
    """Return each kind of a folder of code: its name, its parameters, and what its module says first."""
    import dataclasses
    import inspect
    from abc import ABC
    from importlib import import_module

    from simulator.kinds import members

    base = import_module(f"{OPEN[kind]}.base")
    abstract = [cls for cls in vars(base).values() if isinstance(cls, type) and ABC in cls.__bases__]
    found: dict[str, type] = members(next(cls for cls in abstract if cls.__module__ == base.__name__))
    if name is not None and name not in found:
        raise ScenarioError(f"no {kind} named {name[:80]!r}; there are {', '.join(found)}")
    return [
        (
            each,
            ", ".join(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else "",
            (inspect.getdoc(inspect.getmodule(cls)) or "").partition("\n")[0],
        )
        for each, cls in found.items()
        if name in (None, each)
    ]


def _scenarios() -> list[tuple[str, ...]]:
    """Return the shipped scenarios and the name that each file gives itself."""
    from simulator import shipped

    rows: list[tuple[str, ...]] = []
    for name in shipped.names():
        text = shipped.find(name).read_text(encoding="utf-8")
        title = next((line for line in text.splitlines() if line.startswith("name:")), "name:")
        rows.append((name, title.removeprefix("name:").strip().strip("\"'")))
    return rows
