"""The sections of a document, put together: validated, filled in from each other, checked against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, replace
from dataclasses import fields as fields_of
from functools import lru_cache
from typing import Any

from simulator.scenario import (
    calibration,
    cluster,
    dropping,
    failures,
    limits,
    measured_elsewhere,
    parallelism,
    plausible,
    prices,
    search,
    training,
    without_effect,
)
from simulator.scenario.assumptions import assumed
from simulator.scenario.checks import check
from simulator.scenario.default_stack import default_stack
from simulator.scenario.document import Left, Table, Word, plain
from simulator.scenario.entries import name_of, written_out
from simulator.scenario.jitter import Jitter
from simulator.scenario.merging import without_left
from simulator.scenario.mistakes import Mistakes, did_you_mean
from simulator.scenario.reading import Reading
from simulator.scenario.resolved import resolved
from simulator.scenario.scenario import Scenario
from simulator.scenario.sections import SHAPES, Sections
from simulator.scenario.shape import Record
from simulator.scenario.shorthand import expanded
from simulator.workload.model import Model
from simulator.workload.stack import Stack

CUSTOM = "custom"
"""Name of a model that is written out."""
CHECKED: dict[str, Callable[[Any, Mistakes], None]] = {"cluster": cluster.check, "search": search.check}
"""Sections that hold more than numbers within limits."""
NAMED = {"model": Record(Model), "stack": Record(Stack)}


def _jitter(data: Mapping[str, Any], said: Mapping[str, Any]) -> Jitter:
    """Return the spread of GPUs; a step that was measured has it inside unless the scenario says otherwise."""
    measured = said["training"].step_time is not None and "gpu" not in (data.get("jitter") or {})
    jitter: Jitter = said["jitter"]
    return replace(jitter, gpu=0.0) if measured else jitter


def complete(document: Table, stem: str, reading: Reading) -> Scenario:
    """Return the scenario that `document` says, or raise a ScenarioError with all its mistakes."""
    reading.stack = default_stack(document, reading)
    data = _written(document, reading)
    said = _said(data, reading)
    _need_what_a_step_needs(data, said, reading)
    parts = said | _filled_in(data, said, reading)
    check(parts, reading.mistakes)
    reading.mistakes.stop()
    bases = {name: name_of(record, document.get(name), reading) for name, record in NAMED.items()}
    bases["stack"] = stack_name = bases["stack"] or reading.stack
    scenario = Scenario(
        version=said["version"],
        name=said["name"] or stem,
        source=said["source"],
        expect={str(key): expectation.as_dict() for key, expectation in said["expect"].items()},
        model=_same(said["model"]),
        model_name=(bases["model"] or CUSTOM) if said["model"] else "",
        cluster=parts["cluster"],
        stack=_same(parts["stack"]),
        stack_name=stack_name,
        parallelism=parts["parallelism"],
        training=parts["training"],
        moe=said["moe"],
        jitter=_jitter(data, said),
        targets=said["targets"],
        failures=parts["failures"],
        checkpoint=said["checkpoint"],
        recovery=said["recovery"],
        prices=parts["prices"],
        search=said["search"].axes(),
        calibration=parts["calibration"],
        runs=said["runs"],
        seed=said["seed"],
    )
    assumed(scenario, without_left(document), reading)
    return replace(
        scenario,
        assumptions=tuple(reading.assumptions),
        warnings=(
            *reading.warnings,
            *scenario.failures.warnings(),
            *plausible.warnings(scenario),
            *dropping.warnings(scenario),
            *measured_elsewhere.warnings(scenario),
            *without_effect.warnings(document, scenario, reading),
        ),
        files=tuple(sorted(reading.files.items())),
        folder=reading.folder,
        written=plain(document),
        resolved=resolved(scenario, bases=bases, own_causes=len(getattr(said["failures"], "causes", ()))),
    )


@lru_cache(maxsize=256)
def _same(thing: Any) -> Any:
    """Return the first object that was equal to `thing`: what is cached by it is then found by identity."""
    return thing


def _written(document: Table, reading: Reading) -> dict[str, Any]:
    """Return what was written of each section, names written out; a section that is ``null`` is left out."""
    known = SHAPES
    for key in document:
        if key not in known:
            reading.mistakes.add((str(key),), f"unknown key; {did_you_mean(key, known)}", key=True)
    given = {name: document[name] for name in known if name in document and not isinstance(document[name], Left)}
    return {name: written_out(known[name].shape, value, (name,), reading) for name, value in given.items()}


def _said(data: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """Return the object of each section that could be read; the default's where it was left out."""
    said: dict[str, Any] = {}
    defaults = {field.name: field for field in fields_of(Sections)}
    for name, field in SHAPES.items():
        if name not in data:
            if field.required:
                reading.mistakes.add((), f"`{name}` is missing")
            else:
                factory, value = defaults[name].default_factory, defaults[name].default
                said[name] = value if factory is MISSING else factory()
            continue
        before = len(reading.mistakes)
        found = reading.build(field.shape, data[name], (name,))
        if found is not None:
            limits.check(field.shape, found, (name,), reading.mistakes)
            if name in CHECKED:
                CHECKED[name](found, reading.mistakes)
        if len(reading.mistakes) == before and found is not None:
            said[name] = found
    return said


def _need_what_a_step_needs(data: Mapping[str, Any], said: dict[str, Any], reading: Reading) -> None:
    """Note what is missing to simulate a step; a measured step needs neither model nor layout."""
    section = said.get("training")
    if section is None:
        return
    if section.step_time is None and "model" not in data:
        reading.mistakes.add((), "`model` is missing; only a measured training.step_time does without")
    if section.step_time is None or section.tokens is not None or section.phases:
        for key in ("sequence_length", "global_batch"):
            if key not in data["training"]:
                reading.mistakes.add(("training",), f"`{key}` is missing")
                said.pop("training", None)


def _filled_in(data: Mapping[str, Any], said: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """Return the sections that follow from several: each only if those it needs could be read."""
    parts: dict[str, Any] = dict.fromkeys(("cluster", "stack", "parallelism", "training", "failures", "prices"))
    stack = said.get("stack")
    if stack is None and "stack" not in data:
        stack = reading.build(NAMED["stack"], written_out(NAMED["stack"], Word(reading.stack), ("stack",), reading), ())
    section = said.get("parallelism")
    if section is None and "parallelism" not in data and "model" in data:
        section = parallelism.ParallelismSection()
    if section and stack:
        parts["parallelism"], stack = parallelism.resolve(section, data.get("parallelism", {}), stack)
    if said.get("training") and stack:
        parts["training"] = training.resolve(said["training"], data["training"], stack)
    if said.get("cluster"):
        parts["cluster"] = cluster.resolve(replace(said["cluster"], host=_same(said["cluster"].host)))
    if said.get("failures"):
        gpus = parts["cluster"].host.gpus if parts["cluster"] else None
        parts["failures"] = failures.resolve(said["failures"], _mapping(data, "failures"), reading, gpus)
    if said.get("prices") and parts["cluster"]:
        parts["prices"] = prices.resolve(said["prices"], parts["cluster"].host.gpu, reading)
    parts["stack"] = stack
    parts["calibration"] = calibration.resolve(said.get("calibration"), reading)
    return parts


def _mapping(data: Mapping[str, Any], name: str) -> Any:
    """Return what was written of a section as a mapping, its short form written out."""
    return expanded(SHAPES[name].shape, data.get(name, Table()))
