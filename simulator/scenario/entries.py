"""Names of the catalog, written out: ``hgx-h100``, ``{base: hgx-h100, nics: 4}``, ``{huggingface: config.json}``.

A name is looked up, never a path. What is written beside `base` is laid over the entry, mapping by mapping;
``null`` takes a key of the entry away.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.scenario.document import Failed, Items, Keys, Left, Place, Table, Word, placed
from simulator.scenario.mistakes import did_you_mean
from simulator.scenario.reading import Reading
from simulator.scenario.shape import Either, Kinds, Listing, Named, Record, Shape, Text, forms
from simulator.scenario.shorthand import CATALOG_KIND, expanded
from simulator.workload.model import Model

LARGEST_CONFIG = 1_000_000


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
            return _at(Items(written_out(each, item, (*path, i), reading) for i, (each, item) in pairs), place)
        case Named(values) if isinstance(data, dict):
            kept = {key: value for key, value in data.items() if not isinstance(value, Left)}
            return _at(
                Table({key: written_out(values, value, (*path, key), reading) for key, value in kept.items()}), place
            )
    return without_left(data)


def without_left(data: Any) -> Any:
    """Return `data` without keys that are ``null``."""
    place = getattr(data, "place", None)
    if isinstance(data, dict):
        kept = {key: without_left(value) for key, value in data.items() if not isinstance(value, Left)}
        return _at(Table(kept), place)
    if isinstance(data, list):
        return _at(Items(without_left(item) for item in data), place)
    return data


def name_of(wanted: Record, data: Any, reading: Reading) -> str | None:
    """Return the catalog's name for what `data` names, or None where it names nothing that exists."""
    word = data.get("base") if isinstance(data, dict) else data
    try:
        return (
            catalog.canonical(CATALOG_KIND[wanted.cls], str(word), reading.catalogs) if isinstance(word, str) else None
        )
    except ScenarioError:
        return None


def laid_over(wanted: Shape | None, base: Any, over: Any) -> Any:
    """Return `base` changed by `over`, mapping by mapping; both stand where `wanted` belongs."""
    if not isinstance(over, dict):
        return over
    base = expanded(wanted, base) if wanted else base
    if not isinstance(base, dict) or ("kind" in over and over["kind"] != base.get("kind")):
        return over
    merged = Table(base)
    for key, value in over.items():
        old = merged.pop(key, None)
        merged[key] = value if old is None else laid_over(below(wanted, key, base), old, value)
    return _at(merged, getattr(over, "place", None))


def below(wanted: Shape | None, key: str | int, data: Any) -> Shape | None:
    """Return the shape of what stands under `key` of `data`, which has the shape `wanted`."""
    match wanted:
        case Either():
            form = "list" if isinstance(data, list) else "mapping"
            return below(forms(wanted).get(form, (None,))[0], key, data)
        case Kinds():
            return below(wanted.record(str(data.get("kind"))) if isinstance(data, dict) else None, key, data)
        case Record():
            return wanted.fields[str(key)].shape if key in wanted.fields else None
        case Listing(items):
            return items[min(key, len(items) - 1)] if isinstance(key, int) else None
        case Named(values):
            return values
    return None


def _fields(record: Record, data: Mapping[Any, Any], path: Keys, reading: Reading) -> Table:
    table = Table()
    table.place = getattr(data, "place", None)
    for key, value in data.items():
        if isinstance(value, Left):
            continue
        field = record.fields.get(key)
        if field is None:
            table[key] = without_left(value)
        elif key == "file" and isinstance(field.shape, Text) and isinstance(value, str):
            table[key] = _file(value, (*path, key), reading)
        else:
            table[key] = written_out(field.shape, value, (*path, key), reading)
    return table


def _entry(record: Record, data: Any, path: Keys, reading: Reading) -> Any:
    """Return the mapping that `data`, a name or a mapping, stands for."""
    place = getattr(data, "place", None)
    at_base = (*path, "base") if isinstance(data, dict) else path
    if isinstance(data, str) and data:
        data = _at(Table({"base": data}), place)
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
    if "base" not in data:
        return data
    found = _looked_up(record, data["base"], at_base, reading)
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
    if "name" in record.fields:
        known["name"] = found
    return placed(known, getattr(name, "place", None))


def unknown(kind: str, name: str, suggestions: Any) -> str:
    """Return what to say about a name that the catalog does not have."""
    if "/" in name or "\\" in name or name.startswith("."):
        file = "; a Hugging Face file is read by {huggingface: FILE}" if kind == "model" else ""
        return f"`{name[:60]}` is a path, and a {kind} is looked up by name, never read from a path{file}"
    hint = f"did you mean `{suggestions[0]}`?" if suggestions else f"`foretrain catalog {kind}` lists them"
    what = "preset of failures" if kind == "failures" else kind
    return f"no {what} named `{name[:60]}`; {hint}"


def _config(name: Any, path: Keys, reading: Reading) -> Table | None:
    text = read_file(name, path, reading)
    if text is None:
        return None
    from simulator.convert import huggingface

    try:
        return placed(huggingface.read(text), getattr(name, "place", None))
    except (ScenarioError, ValueError, KeyError) as error:
        reading.mistakes.add(path, f"{name}: {error}")
        return None


def read_file(name: Any, path: Keys, reading: Reading) -> str | None:
    """Return the text of the file that `name` means from the scenario's folder, or None and note what is wrong."""
    if not isinstance(name, str) or not name:
        reading.mistakes.add(path, "the name of a file belongs here")
        return None
    file = Path(_file(name, path, reading))
    if not file.is_file():
        return None
    try:
        if file.stat().st_size > LARGEST_CONFIG:
            reading.mistakes.add(path, f"`{name}` is larger than {LARGEST_CONFIG} bytes")
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reading.mistakes.add(path, f"`{name}` cannot be read: {error}")
        return None


def _file(name: str, path: Keys, reading: Reading) -> Word:
    """Return the path of a file that is named from the scenario's folder."""
    file = reading.folder / name
    if name and not file.is_file():
        near = did_you_mean(file.name, sorted(item.name for item in _siblings(file)) or [""])
        hint = f"; {near}" if near.startswith("did") else "; it is looked for beside the scenario"
        reading.mistakes.add(path, f"no file `{name[:80]}`{hint}")
    word = Word(file)
    word.place = getattr(name, "place", None)
    return word


def _siblings(file: Path) -> list[Path]:
    try:
        return [item for _, item in zip(range(1000), file.parent.iterdir(), strict=False)]
    except OSError:
        return []


def _at(data: Any, place: Place | None) -> Any:
    data.place = place
    return data
