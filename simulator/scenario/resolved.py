"""The echo of a scenario: what it says with every default filled in, as plain data that reads back as the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.reliability.fleet import Failures
from simulator.scenario.calibration import Calibration
from simulator.scenario.echo import echo
from simulator.scenario.prices import Prices
from simulator.scenario.scenario import Scenario
from simulator.scenario.sections import SHAPES
from simulator.scenario.shape import Shape, shape
from simulator.workload.training import Training


def resolved(scenario: Scenario, *, bases: Mapping[str, str | None], own_causes: int) -> dict[str, Any]:
    """Return `scenario` as mappings, lists, numbers and text.

    `bases` are the entries that model and stack change, and `own_causes` the causes that no preset brought.
    """
    plain: dict[str, Any] = {"version": scenario.version, "name": scenario.name}
    if scenario.source is not None:
        plain["source"] = scenario.source
    if scenario.expect:
        plain["expect"] = {key: dict(value) for key, value in scenario.expect.items()}
    if scenario.model is not None:
        plain["model"] = _named(scenario.model, bases["model"])
    plain["cluster"] = echo(_shape("cluster"), scenario.cluster)
    plain["stack"] = _named(scenario.stack, bases["stack"])
    if scenario.parallelism is not None:
        plain["parallelism"] = echo(shape(type(scenario.parallelism)), scenario.parallelism)
    plain["training"] = _training(scenario.training)
    for name in ("moe", "jitter", "targets", "checkpoint", "recovery"):
        plain[name] = echo(_shape(name), getattr(scenario, name))
    plain["prices"] = echo(shape(Prices), scenario.prices)
    plain["failures"] = _failures(scenario.failures, own_causes)
    plain["search"] = {axis: list(values) for axis, values in scenario.search.items()}
    if scenario.calibration is not None:
        plain["calibration"] = echo(shape(Calibration), scenario.calibration)
    return {key: value for key, value in plain.items() if value != {}} | {
        "runs": scenario.runs,
        "seed": scenario.seed,
    }


def _shape(section: str) -> Shape:
    return SHAPES[section].shape


def _named(thing: Any, base: str | None) -> dict[str, Any]:
    """Return a model or stack with the entry that it changes, if it is one of the catalog."""
    named = {} if base is None else {"base": base}
    plain: dict[str, Any] = echo(shape(type(thing)), thing, nulls=bool(named))
    return named | plain


def _training(training: Training) -> dict[str, Any]:
    plain: dict[str, Any] = echo(shape(Training), training)
    if "data_stall_share" in plain:
        plain["data_stall"] = plain.pop("data_stall_share")
    return plain


def _failures(failures: Failures, own_causes: int) -> dict[str, Any]:
    """Return the failures with the causes that were written; those of a preset are named by it.

    No planned stops are said where a preset would bring some.
    """
    plain = echo(shape(Failures), failures)
    if failures.preset is not None:
        plain["causes"] = plain.get("causes", [])[len(failures.causes) - own_causes :]
    none: dict[str, Any] = {"planned": []} if failures.preset is not None and failures.planned == () else {}
    return {key: value for key, value in plain.items() if value != []} | none
