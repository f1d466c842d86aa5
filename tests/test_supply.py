"""What is delivered: the wheel holds the program and its data only, and nothing that is read is executed."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "simulator").is_dir():
    pytest.skip("the sources are not beside the tests", allow_module_level=True)
SOURCES = [path for folder in ("simulator", "topologies") for path in sorted((ROOT / folder).rglob("*.py"))]
DATA = {".py", ".yaml", ".csv", ".json", ".mplstyle", ".html", ".j2", ".css", ".js", ".txt", ".typed"}
EXECUTES = {"eval", "exec", "compile", "__import__"}
RUNS_WHAT_THE_USER_NAMES = "plugins.py"
"""Runs the files of `--plugin`, which no scenario can name."""
NEEDED_BY = {"subprocess": ("lab/", "explorer/", "cli/"), "pickle": (), "marshal": (), "shelve": (), "ctypes": ()}
"""Modules that start programs or build objects from bytes, and the rooms that may."""
COMES_WITH = {
    "yaml": "pyyaml",
    "pydantic_core": "pydantic",
    "markupsafe": "jinja2",
    "altair": "streamlit",
    "starlette": "streamlit",
    "pandas": "streamlit",
}
"""What is imported under another name than it is installed by, or comes with something else for sure."""


def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]


def test_yaml_is_read_as_plain_text_only():
    found = []
    for path in [*SOURCES, *(ROOT / "docs").rglob("*.py")]:
        for call in calls(path):
            said = ast.unparse(call)
            if re.match(r"yaml\.(\w*load\w*|compose\w*|parse|scan)\(", said):
                safe = "_LOADER" in said or "yaml.BaseLoader" in said or said.startswith("yaml.safe_load(")
                found += [] if safe else [f"{path.relative_to(ROOT)}:{call.lineno}: {said}"]
        loaders = re.findall(r"^_LOADER = (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(loaders) <= {'getattr(yaml, "CBaseLoader", yaml.BaseLoader)'}
    assert found == []


def test_nothing_is_executed():
    found = []
    for path in SOURCES:
        inside = path.relative_to(ROOT / path.relative_to(ROOT).parts[0]).as_posix()
        for call in calls(path):
            name = ast.unparse(call.func)
            if (
                (name in EXECUTES and inside != RUNS_WHAT_THE_USER_NAMES)
                or name in ("os.system", "os.popen")
                or "shell=True" in ast.unparse(call)
            ):
                found.append(f"{inside}:{call.lineno}: {name}")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        for module in imported & NEEDED_BY.keys():
            if not inside.startswith(NEEDED_BY[module]):
                found.append(f"{inside}: imports {module}")
    assert found == []


def wheel(folder: Path) -> zipfile.ZipFile:
    build = pytest.importorskip("hatchling.build")
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return zipfile.ZipFile(folder / build.build_wheel(str(folder)))
    finally:
        os.chdir(before)


def test_the_wheel_holds_the_program_its_data_and_nothing_else(tmp_path):
    held = set(wheel(tmp_path).namelist())
    program = {name for name in held if ".dist-info/" not in name}
    there = [path for folder in ("simulator", "topologies", "scenarios") for path in (ROOT / folder).rglob("*")]
    wanted = {path.relative_to(ROOT).as_posix() for path in there if path.is_file() and "__pycache__" not in path.parts}
    assert {re.sub("^simulator/scenarios/", "scenarios/", name) for name in program} == wanted
    assert {Path(name).suffix for name in program} <= DATA
    bill = {name.split(".dist-info/")[1] for name in held - program}
    assert bill == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_every_import_of_the_program_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["dask"], *extras["torch"], *extras["explorer"]]
    declared = {re.split(r"[><=\[; ]", one)[0].lower() for one in asked}
    own = {"simulator", "topologies", *sys.stdlib_module_names}
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
    needed = {COMES_WITH.get(name, name) for name in found - own}
    assert needed - declared == set()
