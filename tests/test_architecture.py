"""The layers of the house, lowest first: a module imports only from above itself in this list."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = [
    "topologies",
    "simulator.errors",
    "simulator.sums",
    "simulator.units",
    "simulator.version",
    "simulator.kinds",
    "simulator.random",
    "simulator.convert",
    "simulator.catalog",
    "simulator.workload",
    "simulator.machine",
    "simulator.reliability",
    "simulator.scenario",
    "simulator.shipped",
    "simulator.engine",
    "simulator.results",
    "simulator.cost",
    "simulator.expectations",
    "simulator.step_error",
    "simulator.targets",
    "simulator.utilisation",
    "simulator.intervals",
    "simulator.accounts",
    "simulator.occupancy",
    "simulator.campaign",
    "simulator.simulation",
    "simulator.host_memory",
    "simulator.readable",
    "simulator.studies",
    "simulator.validation",
    "simulator.calibration",
    "simulator.lab",
    "simulator.tracks",
    "simulator.plots",
    "simulator.report",
    "simulator.trace",
    "simulator.explorer",
    "simulator.cli",
]
APART = {"simulator.workload", "simulator.machine", "simulator.reliability"}
"""Rooms that do not know each other."""
ONLY = {"simpy": {"simulator.engine"}, "matplotlib": {"simulator.plots", "simulator.report"}}
"""Libraries that only some rooms import."""
MODULES = sorted([*ROOT.glob("simulator/**/*.py"), *ROOT.glob("topologies/**/*.py")])


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def layer(module: str) -> str | None:
    return next((name for name in LAYERS if f"{module}.".startswith(f"{name}.")), None)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def known(path: Path) -> set[str]:
    """Return the rooms that a module imports from."""
    return {room for name in imports(path) if (room := layer(name))}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_from_rooms_above_its_own(path):
    module = name_of(path)
    if module in ("simulator", "simulator.__main__"):
        return
    own = layer(module)
    assert own is not None, f"give {module} its place in LAYERS"
    assert [room for room in known(path) if LAYERS.index(room) > LAYERS.index(own)] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_workload_machine_and_reliability_do_not_know_each_other(path):
    own = layer(name_of(path))
    if own in APART:
        assert known(path) & (APART - {own}) == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_library_is_imported_only_in_its_rooms(path):
    own = layer(name_of(path))
    for name in imports(path):
        rooms = ONLY.get(name.partition(".")[0])
        assert rooms is None or own in rooms, f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_file_holds_one_idea(path):
    assert len(path.read_text().splitlines()) <= 400
