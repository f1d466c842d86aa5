"""What a function is asked about: a file, the name of a shipped scenario, a mapping, or a scenario that was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from simulator import shipped
from simulator.errors import ScenarioError
from simulator.scenario import Scenario
from simulator.scenario.source import Source, load
from simulator.studies.point import Base
from simulator.studies.vary import flow

Question = Path | str | Mapping[str, Any] | Scenario
Changes = Mapping[str, Any]
"""Dotted key -> value, as ``--set KEY=VALUE`` of the command line; quantities such as ``"400Gb/s"`` are text."""


def read(question: Question, changes: Changes | None = None, *, catalogs: Sequence[Path | str] = ()) -> Scenario:
    """Return a scenario, complete: every default filled in, every name looked up.

    `question` is a path, the name of a shipped scenario such as ``tutorial/1-one-host``, a mapping as the YAML would
    hold it, or a scenario, which is read again with `changes`. Names are looked up in the folders `catalogs` first.

    Raises ScenarioError, which lists every mistake with its place and what to write instead.

    >>> scenario = read("tutorial/1-one-host", {"parallelism.tensor": 2})
    >>> scenario.gpus, scenario.parallelism.tensor
    (8, 2)
    """
    if isinstance(question, Scenario) and not changes and not catalogs:
        return question
    return base(question, changes, catalogs).read()


def base(question: Question, changes: Changes | None = None, catalogs: Sequence[Path | str] = ()) -> Base:
    """Return where the points of a study of `question` start."""
    source = _source(question)
    name = source.stem
    if isinstance(question, Scenario | Mapping):
        name = str(question.name if isinstance(question, Scenario) else question.get("name") or source.stem)
    texts = tuple(f"{key}={flow(value)}" for key, value in (changes or {}).items())
    return Base(name, source.name, texts, tuple(str(folder) for folder in catalogs), text=source)


def _source(question: Question) -> Source:
    if isinstance(question, Scenario):
        return _written(question.written, question.folder, "<scenario>")
    if isinstance(question, Mapping):
        return _written(question, Path(), "<mapping>")
    if isinstance(question, str) and "\n" in question:
        return load(question)
    return load(shipped.find(str(question)))


def _written(mapping: Mapping[str, Any], folder: Path, name: str) -> Source:
    try:
        text = yaml.safe_dump(dict(mapping), sort_keys=False, allow_unicode=True)
    except (yaml.YAMLError, RecursionError) as error:
        told = str(error).splitlines()[0] if str(error) else "it holds itself"
        raise ScenarioError(f"{name}: a scenario is plain data, mappings, lists, numbers and text: {told}") from None
    return Source(text, name, folder, "scenario")
