"""A shipped scenario is found by its name, and a file by its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator import shipped
from simulator.errors import ScenarioError


@pytest.mark.parametrize("name", shipped.names())
def test_shipped_scenario_is_found_with_and_without_suffix(name: str) -> None:
    assert shipped.find(name) == shipped.find(f"{name}.yaml") == shipped.folder() / f"{name}.yaml"


def test_a_file_is_found_first(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("version: 1\n")
    assert shipped.find(str(file)) == file


def test_a_wrong_name_is_an_error_with_a_hint() -> None:
    with pytest.raises(ScenarioError, match="foretrain catalog scenario"):
        shipped.find("qwxyz")
