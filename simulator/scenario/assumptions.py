"""What a scenario left open and what was taken instead, with where that comes from."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from simulator import units
from simulator.scenario.document import Keys, dotted
from simulator.scenario.echo import echo
from simulator.scenario.feasibility import takes_hosts
from simulator.scenario.reading import Reading
from simulator.scenario.scenario import Scenario
from simulator.scenario.sections import SHAPES
from simulator.scenario.shape import Kinds, Record, Shape, shape
from simulator.scenario.shorthand import CATALOG_KIND, expanded
from simulator.workload.layout import Parallelism, chunks
from simulator.workload.training import Training

DEFAULT = "default"
SOURCES: dict[str, str] = {
    "cluster.topology.kind": "the smallest non-blocking fat-tree",
    "cluster.storage": "1 GB/s a host: the 2 TB/s that 2,048 hosts had in arXiv 2407.21783",
    "cluster.placement.kind": "hosts in the order of the fabric",
    "cluster.collectives": "the fastest algorithm for each size, as NCCL chooses",
    "checkpoint.kind": "Daly's higher-order optimum",
    "recovery.detect": "active health checks find a failure in 2-60 s",
    "recovery.restart": "with a save of 10 s every 600 s it gives the 90% of arXiv 2407.21783, 3.3.4",
    "recovery.timeout": "PyTorch's collective timeout",
    "moe.imbalance": "balanced routing, as published speeds are measured",
    "failures.exposure": "hazards run while the job runs",
}
"""Where the default of a key comes from, for it and all below it."""


def assumed(scenario: Scenario, data: Mapping[str, Any], reading: Reading) -> None:
    """Note every value of `scenario` that `data`, what was written, does not give."""
    notes = _Notes(reading, dict(SOURCES))
    if "stack" not in data:
        notes.add(("stack",), scenario.stack_name, "no stack is given; the range of memory is wider for it")
    elif isinstance(data["stack"], Mapping) and "base" not in data["stack"]:
        notes.add(("stack", "base"), scenario.stack_name, "keys without a base change this one")
    stack = f"stack {scenario.stack_name}"
    notes.sources |= dict.fromkeys(
        ("parallelism.sequence", "parallelism.shard.level", "training.recompute.kind"), stack
    )
    notes.sources |= {"training.states": stack, "prices": "catalog"}
    written = {name: data.get(name, {}) for name in SHAPES}
    shapes = {name: field.shape for name, field in SHAPES.items()}
    if scenario.model is not None:
        notes.section(shapes["model"], scenario.model, written["model"], ("model",))
    notes.section(shapes["cluster"], scenario.cluster, written["cluster"], ("cluster",))
    _link(scenario, written["cluster"], notes)
    if scenario.parallelism is not None:
        notes.section(shape(Parallelism), scenario.parallelism, written["parallelism"], ("parallelism",))
        _split(scenario, notes)
        _group(scenario, notes)
    notes.section(shape(Training), scenario.training, _without_stall(written["training"]), ("training",))
    if scenario.model is not None and scenario.model.experts is not None:
        notes.section(shapes["moe"], scenario.moe, written["moe"], ("moe",))
    notes.section(shapes["jitter"], scenario.jitter, written["jitter"], ("jitter",))
    _reliability(scenario, written, shapes, notes)
    notes.section(shape(type(scenario.prices)), scenario.prices, written["prices"], ("prices",))
    for name in ("runs", "seed"):
        if name not in data:
            notes.add((name,), str(getattr(scenario, name)), DEFAULT)


def _reliability(scenario: Scenario, written: Mapping[str, Any], shapes: Mapping[str, Shape], notes: _Notes) -> None:
    if not scenario.failures.causes:
        notes.add(("failures",), "none", "no failures are given; `failures: llama3` counts those of 16,384 H100")
        return
    section = expanded(shapes["failures"], written["failures"])
    from_preset = dict.fromkeys(("causes", "planned", "size", "uptime"), "") if "preset" in section else {}
    notes.section(shapes["failures"], scenario.failures, from_preset | section, ("failures",))
    if scenario.cluster.spares is None:
        notes.add(("cluster", "spares"), "none", "failed hosts are replaced at once and free of charge")
    if scenario.recovery.repair is None and _needs_repair(scenario):
        notes.add(("recovery", "repair"), "none", "how long failed hosts are gone is not known: spares are not counted")
    notes.section(shapes["checkpoint"], scenario.checkpoint, written["checkpoint"], ("checkpoint",))
    recovery = expanded(shapes["recovery"], written["recovery"])
    in_phases = {"restart": ""} if scenario.recovery.phases else {}
    notes.section(shapes["recovery"], scenario.recovery, in_phases | recovery, ("recovery",))


def _needs_repair(scenario: Scenario) -> bool:
    """Return whether a cause takes hosts away for a time that nobody gives."""
    return any(takes_hosts(cause) and cause.repair is None for cause in scenario.failures.causes)


def _link(scenario: Scenario, written: Any, notes: _Notes) -> None:
    topology = written.get("topology", {}) if isinstance(written, dict) else {}
    bandwidth = scenario.cluster.host.nic_bandwidth
    if bandwidth and not (isinstance(topology, dict) and "link_bandwidth" in topology):
        notes.add(("cluster", "topology", "link_bandwidth"), units.render(bandwidth, "B/s"), "one NIC of the host")


def _split(scenario: Scenario, notes: _Notes) -> None:
    layout, model = scenario.parallelism, scenario.model
    if model is None or layout is None or layout.split is not None:
        return
    counts = [chunk.layers for chunk in chunks(model, scenario.stack, layout)]
    runs = [(count, len(list(same))) for count, same in groupby(counts)]
    written = ", ".join(f"{times} x {count}" if times > 1 else str(count) for count, times in runs)
    rule = f"rule `{scenario.stack.split}` of stack {scenario.stack_name}"
    notes.add(("parallelism", "split"), f"[{written}]", f"{rule}: {sum(counts)} layers in {len(counts)} chunks")


def _group(scenario: Scenario, notes: _Notes) -> None:
    """Tell the rule of an interleaved schedule whose microbatches the stages do not divide."""
    layout = scenario.parallelism
    if (
        layout is None
        or getattr(layout.schedule, "group", 0) is not None
        or not scenario.microbatches % layout.pipeline
    ):
        return
    size = layout.schedule.group_size(layout.pipeline, scenario.microbatches)  # type: ignore[attr-defined]
    rule = f"{scenario.microbatches} microbatches on {layout.pipeline} stages: the shortest that Megatron-Core accepts"
    notes.add(("parallelism", "schedule", "group"), str(size), rule)


def _without_stall(training: Any) -> dict[str, Any]:
    return {**training, "data_stall_share": ""}


class _Notes:
    def __init__(self, reading: Reading, sources: dict[str, str]) -> None:
        self.reading, self.sources = reading, sources

    def add(self, path: Keys, value: str, source: str) -> None:
        self.reading.assume(path, value, source)

    def section(self, wanted: Shape, value: Any, data: Any, path: Keys) -> None:
        """Note each default in `value`, an object of the shape `wanted` that `data` says."""
        data = expanded(wanted, data)
        match wanted:
            case Record(cls=cls) if cls in CATALOG_KIND and isinstance(data, dict) and "base" in data:
                return
            case Record():
                for name, field in wanted.fields.items():
                    self._field(field.shape, getattr(value, name), data, path, name)
            case Kinds():
                record = wanted.record(value.kind)
                assert record is not None
                if not isinstance(data, dict) or "kind" not in data:
                    self.add((*path, "kind"), value.kind, self.source((*path, "kind")))
                self.section(record, value, data if isinstance(data, dict) else {}, path)

    def _field(self, wanted: Shape, value: Any, data: Any, path: Keys, name: str) -> None:
        keys = (*path, name)
        if isinstance(data, dict) and name in data:
            if isinstance(wanted, Record | Kinds) and value is not None:
                self.section(wanted, value, data[name], keys)
        elif isinstance(wanted, Record) or (isinstance(wanted, Kinds) and not (wanted.short or wanted.bare)):
            if value is None:
                return
            self.section(wanted, value, {}, keys)
        elif value not in (None, (), {}, ""):
            self.add(keys, text(echo(wanted, _short(value))), self.source(keys))

    def source(self, path: Keys) -> str:
        """Return where the default of the key at `path` comes from."""
        keys = (dotted(path[:length]) for length in range(len(path), 0, -1))
        return next((self.sources[key] for key in keys if key in self.sources), DEFAULT)


def _short(value: Any) -> Any:
    """Return a number without the noise of its last digits."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def text(plain: Any) -> str:
    """Return plain data as one would write it.

    >>> text({"kind": "fixed", "time": "1min"})
    '{kind: fixed, time: 1min}'
    """
    if isinstance(plain, dict):
        return "{" + ", ".join(f"{key}: {text(value)}" for key, value in plain.items()) + "}"
    if isinstance(plain, list):
        return "[" + ", ".join(map(text, plain)) + "]"
    return str(plain).lower() if isinstance(plain, bool) else str(plain)
