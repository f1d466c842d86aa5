"""The pages on the catalog: what is known of GPUs, hosts, models, failures and prices, with the source of each."""

from __future__ import annotations

from typing import Any

from generators.markdown import table
from simulator import catalog
from simulator.scenario import from_dict
from simulator.workload.model import Model
from simulator.workload.parameters import active_parameters, total_parameters

NOTE = "Generated from `simulator/catalog/{kind}`; `foretrain catalog {kind} NAME` prints an entry with its aliases.\n"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its kind, in the plural."""
    return {"gpus": _gpus(), "hosts": _hosts(), "models": _models(), "failures": _failures(), "prices": _prices()}


def _entries(kind: str) -> dict[str, dict[str, Any]]:
    files = {name: catalog.entry(kind, name) for name in catalog.names(kind) if not _is_table(kind, name)}
    return dict(sorted(files.items()))


def _is_table(kind: str, name: str) -> bool:
    try:
        catalog.entry(kind, name)
    except catalog.UnknownEntryError:
        return True
    return False


def _head(title: str, kind: str, text: str) -> str:
    return f"# {title}\n\n{text}\n\n{NOTE.format(kind=kind)}"


def _sources(entries: dict[str, dict[str, Any]]) -> str:
    rows = [(f"`{name}`", entry["source"]) for name, entry in entries.items()]
    return "## Sources\n\n" + table(("name", "source"), rows)


def _gpus() -> str:
    entries = _entries("gpu")
    rows = [
        (
            f"`{name}`",
            entry.get("memory", ""),
            entry.get("memory_bandwidth", ""),
            entry["peak"].get("bf16", entry["peak"].get("fp16", "")),
            entry["peak"].get("fp8", ""),
            entry.get("scale_up", ""),
            entry.get("power", ""),
        )
        for name, entry in entries.items()
    ]
    text = (
        "Peaks are dense, links are per direction. A peak in 16 bit is that of bf16, or of fp16 where there is no bf16."
    )
    head = ("name", "memory", "bandwidth", "16 bit", "fp8", "links", "power")
    return "\n".join([_head("GPUs", "gpu", text), table(head, rows, range(1, 7)), _sources(entries)])


def _hosts() -> str:
    entries = _entries("host")
    rows = [
        (
            f"`{name}`",
            _name(entry.get("gpu")),
            entry.get("gpus", ""),
            entry.get("nics", ""),
            entry.get("nic_bandwidth", ""),
            entry.get("fabric", ""),
        )
        for name, entry in entries.items()
    ]
    text = "What can be rented or bought as one machine. `nics` and their rate are the scale-out network of one host."
    head = ("name", "GPU", "GPUs", "NICs", "each", "fabric")
    return "\n".join([_head("Hosts", "host", text), table(head, rows, (2, 3, 4)), _sources(entries)])


def _name(gpu: Any) -> str:
    return f"`{gpu}`" if isinstance(gpu, str) else f"`{gpu['base']}`" if gpu and "base" in gpu else "inline"


def model(name: str) -> Model:
    """Return the model of the catalog, as a scenario that names it has it."""
    scenario = {
        "model": name,
        "cluster": {"host": "hgx-h100", "hosts": 1},
        "training": {"steps": 1, "step_time": "1s", "global_batch": 8, "sequence_length": 128},
    }
    found = from_dict(scenario).model
    assert found is not None
    return found


def _models() -> str:
    entries = _entries("model")
    rows, misprints = [], []
    for name, entry in entries.items():
        shape, published = model(name), entry.get("published", {})
        total, active = total_parameters(shape), active_parameters(shape)
        rows.append(
            (
                f"`{name}`",
                f"{total:,}",
                f"{active / 1e9:.3g}B" if active != total else "",
                f"{shape.layers} x {shape.hidden:,}",
                published.get("training_tokens", ""),
                published.get("year", ""),
            )
        )
        misprints += [
            (f"`{name}`", each["quantity"], each["printed"], each["ours"], each["where"])
            for each in published.get("misprints", ())
        ]
    text = (
        "Parameters are counted from the shape, to the integer, with embeddings and head, without padding and without "
        "modules that predict further tokens. Active ones are those that a token uses. Where a published checkpoint "
        "exists, the count is the checkpoint's."
    )
    head = ("name", "parameters", "active", "layers x width", "tokens", "year")
    parts = [_head("Models", "model", text), table(head, rows, (1, 2, 3, 4, 5))]
    parts += ["## Misprints\n", "Published figures that do not follow from the published shape.\n"]
    parts.append(table(("model", "quantity", "printed", "ours", "where"), misprints, (2, 3)))
    notes = [(f"`{name}`", entry["published"]["note"]) for name, entry in entries.items() if _note(entry)]
    parts += ["## Notes\n", table(("model", "note"), notes)]
    licences = [
        (f"`{name}`", entry["source"], entry.get("published", {}).get("licence", "")) for name, entry in entries.items()
    ]
    parts += ["## Sources and licences\n", table(("model", "source", "licence"), licences)]
    return "\n".join(parts)


def _note(entry: dict[str, Any]) -> bool:
    return bool(entry.get("published", {}).get("note"))


def _failures() -> str:
    entries = _entries("failures")
    text = (
        "What published records counted. A preset stores counts, units and time; rates follow from the exposure that "
        "the scenario chooses. [Failures](../concepts/failures.md) says how."
    )
    parts = [_head("Failure presets", "failures", text)]
    head = ("name", "GPUs", "hosts", "wall clock", "uptime", "failures", "planned")
    rows = [
        (
            f"`{name}`",
            entry.get("gpus", ""),
            entry.get("hosts", ""),
            entry.get("wall", ""),
            entry.get("uptime", ""),
            f"{sum(float(each['count']) for each in entry.get('counted', ())):g}",
            entry.get("planned", {}).get("count", ""),
        )
        for name, entry in entries.items()
    ]
    parts.append(table(head, rows, range(1, 7)))
    for name, entry in entries.items():
        parts.append(f"## {name}\n")
        parts += [f"{' '.join(str(entry[key]).split())}\n" for key in ("note", "source") if entry.get(key)]
        causes = [
            (each["name"], each["unit"], each.get("units", ""), each["count"], each.get("effect", "crash"))
            for each in entry.get("counted", ())
        ]
        parts.append(table(("cause", "unit", "units", "count", "effect"), causes, (2, 3)))
    return "\n".join(parts)


def _prices() -> str:
    entries = _entries("prices")
    text = "What a rented GPU-hour costs where a scenario does not say. A serious budget states its own price."
    parts = [_head("Prices", "prices", text)]
    for name, entry in entries.items():
        parts.append(f"## {name}\n")
        parts += [f"{' '.join(str(entry[key]).split())}\n" for key in ("note", "source") if entry.get(key)]
        rows = [(f"`{gpu}`", price) for gpu, price in entry["gpu_hour"].items()]
        rows += [(key, entry[key]) for key in ("per_petaflop", "reserved", "spot", "pue", "carbon") if key in entry]
        parts.append(table(("GPU or term", "value"), rows, (1,)))
    return "\n".join(parts)
