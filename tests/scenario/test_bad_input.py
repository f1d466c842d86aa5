"""Input that is no scenario at all: one line that says so, soon."""

from __future__ import annotations

import time

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import from_dict, read


def message(path) -> str:
    start = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        read(path)
    assert time.process_time() - start < 5
    return str(caught.value)


def test_a_missing_file_suggests_the_one_beside_it(tmp_path):
    (tmp_path / "cluster.yaml").touch()
    assert message(tmp_path / "clutser.yaml").endswith(f"no such file; did you mean {tmp_path / 'cluster.yaml'}?")


def test_a_missing_folder_is_named(tmp_path):
    assert "there is no folder" in message(tmp_path / "a" / "b.yaml")


def test_a_directory_is_no_scenario(tmp_path):
    (tmp_path / "mine.yaml").touch()
    assert message(tmp_path).endswith("is a folder, not a file; did you mean one of mine.yaml in it?")


def test_an_empty_file_points_at_new(tmp_path):
    file = tmp_path / "empty.yaml"
    file.touch()
    assert message(file) == f"{file}:1:1: empty; `foretrain new` writes a scenario to start from"


def test_a_binary_file_is_no_text(tmp_path):
    file = tmp_path / "binary.yaml"
    file.write_bytes(b"a: 1\n\x7fELF\x80\xfe")
    assert "binary.yaml:2: not UTF-8 text" in message(file)


def test_control_characters_are_no_yaml(tmp_path):
    file = tmp_path / "nul.yaml"
    file.write_bytes(b"a: \x00")
    assert "not text that YAML allows" in message(file)


def test_utf_16_is_named(tmp_path):
    file = tmp_path / "wide.yaml"
    file.write_text("a: 1", encoding="utf-16")
    assert "is UTF-16; save it as UTF-8" in message(file)


def test_a_huge_file_is_not_read(tmp_path):
    file = tmp_path / "huge.yaml"
    file.write_bytes(b"a" * 2_000_000)
    assert "is larger than 1,000,000 bytes" in message(file)


def test_many_words_are_not_read(tmp_path):
    file = tmp_path / "long.yaml"
    file.write_text("\n".join(f"k{number}: 1" for number in range(60_000)))
    assert "more than 50000 words" in message(file)


def test_deep_nesting_is_not_followed(tmp_path):
    file = tmp_path / "deep.yaml"
    file.write_text("a: " + "[" * 100_000)
    assert "nest" in message(file)


def test_a_path_that_no_system_has_is_a_message():
    assert "is not the name of a file" in message("a\0b.yaml")
    assert "is too long for the name of a file" in message("x" * 5000)


def test_a_terminal_is_not_steered_by_a_message():
    with pytest.raises(ScenarioError) as caught:
        from_dict({"a\x1b[31m": 1})
    assert "\x1b" not in str(caught.value)


def test_a_value_that_is_not_plain_data_is_a_message():
    with pytest.raises(ScenarioError, match="cluster"):
        from_dict({"cluster": object(), "training": {}})


def test_a_mapping_in_itself_is_a_message():
    mapping: dict = {"model": {}}
    mapping["model"]["base"] = mapping
    with pytest.raises(ScenarioError, match="nested too deep, or in itself"):
        from_dict(mapping)


def test_a_deep_override_is_a_message(minimal):
    with pytest.raises(ScenarioError, match="nested more than 20 deep"):
        from_dict(minimal, overrides=[f"{'a.' * 5000}b=1"])


def test_many_mistakes_are_cut_short():
    with pytest.raises(ScenarioError) as caught:
        from_dict({f"key{number}": 1 for number in range(1000)})
    lines = str(caught.value).splitlines()
    assert len(lines) == 101
    assert lines[-1] == "... and 902 more mistakes"
