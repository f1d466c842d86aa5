"""The keys that the page offers, group by group; what each may be comes from the shapes that read a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator import catalog
from simulator.explorer.asked import NOTHING, at, shape_at, written
from simulator.scenario.document import Left, Table
from simulator.scenario.schema import descriptions
from simulator.scenario.sections import Sections
from simulator.scenario.shape import Choice, Either, Flag, Kinds, Quantity, Record, Shape
from simulator.scenario.shorthand import CATALOG_KIND

GROUPS: dict[str, dict[str, str]] = {
    "Model and batch": {
        "model": "model",
        "training.tokens": "tokens",
        "training.steps": "steps",
        "training.duration": "duration",
        "training.sequence_length": "sequence length",
        "training.global_batch": "global batch",
        "training.precision": "precision",
        "training.method": "method",
    },
    "Cluster": {
        "cluster.host": "host",
        "cluster.hosts": "hosts",
        "cluster.spares": "spare hosts",
        "cluster.host.nics": "NICs a host",
        "cluster.host.nic_bandwidth": "NIC bandwidth",
        "cluster.topology": "fabric",
        "cluster.topology.oversubscription": "oversubscription",
    },
    "Layout": {
        "parallelism.tensor": "tensor",
        "parallelism.pipeline": "pipeline",
        "parallelism.context.size": "context",
        "parallelism.expert": "expert",
        "parallelism.schedule": "schedule",
        "parallelism.schedule.chunks": "chunks a stage",
        "training.microbatch": "microbatch",
        "training.recompute": "recompute",
        "parallelism.shard.level": "shard",
        "stack": "software stack",
    },
    "Failures and saves": {
        "failures": "failures",
        "failures.scale": "rate, times",
        "checkpoint": "checkpoint",
        "checkpoint.interval": "save every",
        "checkpoint.mode": "save",
        "recovery.restart": "restart takes",
        "recovery.repair": "repair takes",
    },
    "Price and runs": {
        "prices.gpu_hour": "GPU-hour",
        "runs": "simulated runs",
        "seed": "seed",
    },
}
KEYS = tuple(key for group in GROUPS.values() for key in group)
SIZES = ("1", "2", "4", "8", "16", "32", "64")
SUGGESTED = {
    "parallelism.tensor": SIZES[:4],
    "parallelism.pipeline": SIZES[:5],
    "parallelism.context.size": SIZES,
    "parallelism.expert": SIZES,
    "parallelism.schedule.chunks": ("2", "3", "4", "6", "8"),
    "training.microbatch": SIZES[:4],
    "cluster.topology.oversubscription": ("1", "2", "4", "7"),
    "failures.scale": ("0", "0.5", "1", "2", "4"),
}
"""Values of numbers that are worth a click; any other may be typed."""
LEFT_OUT = {"failures": "none", "cluster.topology": "smallest non-blocking", "model": "none"}
"""What the page says where these keys are left out; nothing where others are."""
OPTIONAL = ("failures", "cluster.topology")
"""Keys that may be chosen to be left out."""
ONLY_IF_SAID = ("training.steps", "training.duration", "training.tokens")
ONLY_WITH = {
    "failures.scale": "failures",
    "recovery.restart": "failures",
    "recovery.repair": "failures",
    "parallelism.expert": "experts",
}
"""Fields that mean something only where something else is there."""


NAMES = ("base", "preset", "kind", "name")
"""Keys that name what a mapping changes."""
WIDE = ("model", "cluster.host", "cluster.topology", "parallelism.schedule", "stack", "failures")
"""Fields whose words are long."""


@dataclass(frozen=True)
class Field:
    key: str
    label: str
    text: str
    """What it says now."""
    options: tuple[str, ...]
    """Values to choose from; empty where one is typed."""
    free: bool
    """Whether another value than the options may be typed."""
    kinds: bool
    """Whether the options are kinds, whose keys differ."""
    about: str


def fields(found: Table, resolved: dict[str, Any], catalogs: tuple[str, ...] = ()) -> dict[str, list[Field]]:
    """Return the fields of each group for a scenario: `found` is what it says, `resolved` with every default."""
    told = {
        group: [field for key, label in keys.items() if (field := _field(key, label, found, resolved, catalogs))]
        for group, keys in GROUPS.items()
    }
    return {group: ones for group, ones in told.items() if ones}


def said(value: str, key: str) -> str:
    """Return what a change of `key` to the words `value` of the page is written as."""
    return NOTHING if not value.strip() or value == LEFT_OUT.get(key) else value.strip()


def _field(key: str, label: str, found: Table, resolved: dict[str, Any], catalogs: tuple[str, ...]) -> Field | None:
    wanted = shape_at(found, key)
    if wanted is None or not _meant(key, found, resolved):
        return None
    kinds = _of_kinds(wanted)
    text = _text(key, at(found, key), _below(resolved, key), kinds=kinds)
    known = SUGGESTED.get(key) or _options(wanted, catalogs)
    if key in OPTIONAL:
        known = (LEFT_OUT[key], *known)
    options = known if text in known or not known else (text, *known)
    free = isinstance(wanted, Quantity | Record) or key in SUGGESTED
    return Field(key, label, text, options, free, kinds, about(key))


def about(key: str) -> str:
    """Return the sentence of the reference on a key."""
    section, _, name = key.rpartition(".")
    cls = Sections if not section else _class(section)
    return descriptions(cls).get(name, "") if cls else ""


def _class(section: str) -> type | None:
    wanted = shape_at(Table(), section)
    return getattr(wanted.cls, "described_by", wanted.cls) if isinstance(wanted, Record) else None


def _meant(key: str, found: Table, resolved: dict[str, Any]) -> bool:
    if key in ONLY_IF_SAID:
        return at(found, key) is not None
    other = ONLY_WITH.get(key)
    if other == "experts":
        return bool(_below(resolved, "model.experts"))
    if key.startswith(("parallelism", "training.microbatch", "training.recompute")):
        return "model" in resolved
    return other is None or at(found, other) is not None


def _of_kinds(wanted: Shape) -> bool:
    members = wanted.members if isinstance(wanted, Either) else (wanted,)
    return any(isinstance(one, Kinds) and not one.short for one in members)


def _options(wanted: Shape, catalogs: tuple[str, ...]) -> tuple[str, ...]:
    match wanted:
        case Choice(values):
            return tuple(map(str, values))
        case Flag():
            return ("true", "false")
        case Kinds(short=None, words=words):
            return tuple(words)
        case Record(cls=cls) if cls in CATALOG_KIND:
            return catalog.names(CATALOG_KIND[cls], catalogs)
        case Record(cls=cls) if getattr(cls, "short_for", "") == "preset":
            return catalog.names("failures", catalogs)
        case Record(fields=known) if "kind" in known:
            return _options(known["kind"].shape, catalogs)
        case Either(members):
            return next((found for one in members if (found := _options(one, catalogs))), ())
    return ()


def _text(key: str, here: Any, default: Any, *, kinds: bool) -> str:
    """Return what a field says: what is written, else the default, by its name; keys beside a name are shown too."""
    given = here is not None and not isinstance(here, Left)
    if not given and key in LEFT_OUT:
        return LEFT_OUT[key]
    value = here if given else default
    if isinstance(value, dict) and (kinds or not given or len(value) == 1):
        names = ("kind", *NAMES) if kinds else NAMES
        value = next((value[name] for name in names if isinstance(value.get(name), str)), value)
    return "" if value is None else written(value) if isinstance(value, dict | list) else _plain(value)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _below(resolved: Any, key: str) -> Any:
    for part in key.split("."):
        resolved = resolved.get(part) if isinstance(resolved, dict) else None
    return resolved
