"""The `calibration` section: a file that `foretrain calibrate` wrote, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.scenario import yaml_text
from simulator.scenario.beside import read_file
from simulator.scenario.document import plain
from simulator.scenario.reading import Reading

PATH = ("calibration",)


def resolve(section: str | Mapping[str, Any] | None, reading: Reading) -> dict[str, Any] | None:
    """Return what the calibration file says; a mapping is its content."""
    if section is None or not isinstance(section, str):
        return None if section is None else dict(section)
    text = read_file(section, PATH, reading)
    if text is None:
        return None
    content = yaml_text.read(text, section, reading.mistakes)
    if content is not None and not isinstance(content, dict):
        reading.mistakes.add(PATH, f"`{section}` is not a file that `foretrain calibrate` wrote")
        return None
    return plain(content)
