"""The layers of the house, lowest first: a module imports only from above itself in this list."""

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "simulator").is_dir():
    pytest.skip("the sources are not beside the tests", allow_module_level=True)
LAYERS = [
    "topologies",
    "simulator.errors",
    "simulator.io.printable",
    "simulator.io.terminal",
    "simulator.io.files",
    "simulator.io.writing",
    "simulator.sums",
    "simulator.units",
    "simulator.version",
    "simulator.kinds",
    "simulator.plugins",
    "simulator.random",
    "simulator.convert",
    "simulator.catalog",
    "simulator.workload",
    "simulator.machine",
    "simulator.reliability",
    "simulator.scenario",
    "simulator.shipped",
    "simulator.engine",
    "simulator.outcome",
    "simulator.simulation",
    "simulator.io.readable",
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
    if module in ("simulator", "simulator.__main__", "simulator.io"):
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


READS_ITS_OWN = {
    "simulator.io.files": "opens what somebody names, for everyone else",
    "simulator.calibration.kernels": "shipped tables",
    "simulator.cli": "the first lines of its modules",
    "simulator.cli._refit": "shipped constants",
    "simulator.cli.catalog": "shipped scenarios",
    "simulator.lab.corpus": "the standard library",
    "simulator.report.html": "its template",
    "simulator.scenario.starter": "its template",
    "simulator.studies.lines": "rows that a study wrote",
    "simulator.validation.reliability": "shipped cases",
}
"""Modules that open files to read them, and which."""


def opens_to_read(call: ast.Call) -> bool:
    """Return whether a call opens a file and its mode does not say that it is to be written."""
    said = ast.unparse(call.func)
    words = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    if said == "open" or said.endswith("path.open"):
        return not any(set(word) <= set("wax+b") for word in words)
    return said.endswith((".read_text", ".read_bytes"))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_file_that_somebody_names_is_opened_in_one_place(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert not any(map(opens_to_read, calls)) or name_of(path) in READS_ITS_OWN


def test_no_modules_import_each_other():
    """Not even through others, inside functions, or for annotations alone."""
    names = {name_of(path): path for path in MODULES}
    graph = nx.DiGraph()
    for name, path in names.items():
        imported = [other for other in imports(path) if other in names]
        graph.add_edges_from((name, other) for other in imported if not f"{name}.".startswith(f"{other}."))
    assert [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1] == []


def expected_failures() -> Iterator[tuple[str, dict[str, ast.expr]]]:
    """Yield each mark ``xfail`` of the tests: its place and its keywords."""
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.xfail":
                yield f"{path.name}:{node.lineno}", {}
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.xfail":
                yield f"{path.name}:{node.func.lineno}", {one.arg: one.value for one in node.keywords if one.arg}


def test_an_expected_failure_names_what_it_raises_and_gives_figures():
    """A mark without them would also hide a crash, and would not tell how far off the prediction is."""
    said: dict[str, dict[str, ast.expr]] = {}
    for place, keywords in expected_failures():
        said[place] = said.get(place) or keywords
    assert said
    for place, keywords in said.items():
        reason = keywords.get("reason")
        assert "raises" in keywords, place
        assert isinstance(reason, ast.Constant), place
        assert any(character.isdigit() for character in str(reason.value)), place
