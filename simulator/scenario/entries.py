"""Names of the catalog, written out: ``hgx-h100``, ``{base: hgx-h100, nics: 4}``, ``{huggingface: config.json}``.

A name is looked up, never a path. What is written beside `base` is laid over the entry, mapping by mapping;
``null`` takes a key of the entry away.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping
from typing import Any

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.scenario.beside import LARGEST_TABLE, located, read_file
from simulator.scenario.document import Failed, Items, Keys, Left, Table, Word, at, placed
from simulator.scenario.merging import laid_over, without_left
from simulator.scenario.reading import Reading
from simulator.scenario.shape import Either, Kinds, Listing, Named, Record, Shape, Text, forms
from simulator.scenario.shorthand import CATALOG_KIND, expanded
from simulator.workload.model import Model
from simulator.workload.stack import Stack


def written_out(wanted: Shape, data: Any, path: Keys, reading: Reading) -> Any:
    """Return `data` with every name replaced by its entry and every key that is ``null`` removed."""
    place = getattr(data, "place", None)
    data = expanded(wanted, data) if isinstance(data, list) else data
    match wanted:
        case Record(cls=cls) if cls in CATALOG_KIND:
            data = _entry(wanted, data, path, reading)
            return _fields(wanted, data, path, reading) if isinstance(data, dict) else data
        case Record():
            return _fields(wanted, data, path, reading) if isinstance(data, dict) else data
        case Kinds() if isinstance(data, dict):
            kind = data.get("kind")
            found = wanted.record(kind) if isinstance(kind, str) else None
            return _fields(found, data, path, reading) if found else without_left(data)
        case Either() if not isinstance(data, str):
            form = "mapping" if isinstance(data, dict) else "list"
            return written_out(forms(wanted).get(form, (Text(),))[0], data, path, reading)
        case Listing(items) if isinstance(data, list):
            shapes = [items[min(index, len(items) - 1)] for index in range(len(data))]
            pairs = enumerate(zip(shapes, data, strict=True))
            return at(Items(written_out(each, item, (*path, i), reading) for i, (each, item) in pairs), place)
        case Named(values) if isinstance(data, dict):
            kept = {key: value for key, value in data.items() if not isinstance(value, Left)}
            return at(
                Table({key: written_out(values, value, (*path, key), reading) for key, value in kept.items()}), place
            )
    return without_left(data)


def name_of(wanted: Record, data: Any, reading: Reading) -> str | None:
    """Return the catalog's name for what `data` names, or None where it names nothing that exists."""
    word = data.get("base", _default(wanted, reading)) if isinstance(data, dict) else data
    try:
        return (
            catalog.canonical(CATALOG_KIND[wanted.cls], str(word), reading.catalogs) if isinstance(word, str) else None
        )
    except ScenarioError:
        return None


def _default(record: Record, reading: Reading) -> str | None:
    """Return the entry that keys without a `base` change; other classes are written out by their keys."""
    return reading.stack if record.cls is Stack else None


def _fields(record: Record, data: Mapping[Any, Any], path: Keys, reading: Reading) -> Table:
    table = Table()
    table.place = getattr(data, "place", None)
    for key, value in data.items():
        if isinstance(value, Left):
            continue
        field = record.fields.get(key)
        if field is None:
            table[key] = without_left(value)
        elif key == "file" and hasattr(record.cls, "file_holds"):
            _open(record.cls.file_holds, data, path, reading, table)
        else:
            table[key] = written_out(field.shape, value, (*path, key), reading)
    return table


def _open(holds: str, data: Mapping[Any, Any], path: Keys, reading: Reading, table: Table) -> None:
    """Put what the file of `data` holds under the key `holds` of `table`, beside the path of the file."""
    name = data["file"]
    if holds in data and not isinstance(data[holds], Left):
        reading.mistakes.add((*path, "file"), f"either `file` or `{holds}`, not both")
        text = None
    else:
        text = read_file(name, (*path, "file"), reading, LARGEST_TABLE)
    if text is None:
        table["file"] = at(Failed(), getattr(name, "place", None))
    else:
        table["file"] = at(Word(located(name, reading)), getattr(name, "place", None))
        table[holds] = Word(text)


def _entry(record: Record, data: Any, path: Keys, reading: Reading) -> Any:
    """Return the mapping that `data`, a name or a mapping, stands for."""
    place = getattr(data, "place", None)
    at_base = (*path, "base") if isinstance(data, dict) else path
    if isinstance(data, str) and data:
        data = at(Table({"base": data}), place)
    if not isinstance(data, dict):
        return data
    rest = Table({key: value for key, value in data.items() if key not in ("base", "huggingface")})
    rest.place = place
    if "base" in data and "huggingface" in data:
        reading.mistakes.add(path, "either `base` or `huggingface`, not both")
        return Failed()
    if "huggingface" in data and record.cls is Model:
        found = _config(data["huggingface"], (*path, "huggingface"), reading)
        return Failed() if found is None else laid_over(record, found, rest)
    name = data.get("base", _default(record, reading))
    if name is None and "base" not in data:
        return data
    found = _looked_up(record, name, at_base, reading)
    return Failed() if found is None else laid_over(record, found, rest)


def _looked_up(record: Record, name: Any, path: Keys, reading: Reading) -> Table | None:
    kind = CATALOG_KIND[record.cls]
    if not isinstance(name, str) or not name:
        reading.mistakes.add(path, f"a name of the catalog belongs here; `foretrain catalog {kind}` lists them")
        return None
    try:
        found = catalog.canonical(kind, str(name), reading.catalogs)
        entry = catalog.entry(kind, found, reading.catalogs)
    except catalog.UnknownEntryError as error:
        reading.mistakes.add(path, unknown(kind, name, error.suggestions))
        return None
    known = {key: value for key, value in entry.items() if key in record.fields}
    if reading.catalogs:
        _doubt(record, found, entry, path, reading)
    if "name" in record.fields:
        known["name"] = found
    found_entry: Table = placed(known, getattr(name, "place", None))
    return found_entry


def _doubt(record: Record, name: str, entry: Mapping[str, Any], path: Keys, reading: Reading) -> None:
    """Note a key of an entry that is none of the class's and looks like one that is missing: a slip of the finger."""
    missing = [field for field in record.fields if field not in entry]
    for key in entry:
        if key not in record.fields and (close := difflib.get_close_matches(key, missing, n=1, cutoff=0.85)):
            reading.mistakes.add(path, f"entry `{name}` of the catalog: unknown key {key}; did you mean `{close[0]}`?")


def unknown(kind: str, name: str, suggestions: Any) -> str:
    """Return what to say about a name that the catalog does not have."""
    if "/" in name or "\\" in name or name.startswith("."):
        file = "; a Hugging Face file is read by {huggingface: FILE}" if kind == "model" else ""
        return f"`{name[:60]}` is a path, and a {kind} is looked up by name, never read from a path{file}"
    like = [one for one in suggestions if name.lower() in one] or list(suggestions[:1])
    meant = " or ".join(f"`{one}`" for one in like)
    hint = f"did you mean {meant}?" if like else f"`foretrain catalog {kind}` lists them"
    what = "preset of failures" if kind == "failures" else kind
    return f"no {what} named `{name[:60]}`; {hint}"


def _config(name: Any, path: Keys, reading: Reading) -> Table | None:
    text = read_file(name, path, reading)
    if text is None:
        return None
    from simulator.convert import huggingface

    try:
        config: Table = placed(huggingface.read(text), getattr(name, "place", None))
        return config
    except (ScenarioError, ValueError, KeyError):
        command = f"foretrain import huggingface {shlex.quote(str(located(name, reading)))}"
        reading.mistakes.add(path, f"`{name[:80]}` is no config.json that can be translated; `{command}` says why")
        return None
