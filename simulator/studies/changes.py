"""A change of a scenario, as ``--set`` would write it, and what makes a changed scenario possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from simulator.scenario.checks import check
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.scenario import Scenario


@dataclass(frozen=True)
class Change:
    """What is changed, in words and as settings, and the scenario that comes of it."""

    what: str
    settings: tuple[str, ...]
    scenario: Scenario

    def then(self, other: Change) -> Change:
        """Return this change with `other`, which was made on top of it."""
        return Change(f"{self.what}, {other.what}", merged((*self.settings, *other.settings)), other.scenario)


def merged(settings: tuple[str, ...]) -> tuple[str, ...]:
    """Return settings without those that a later one overrides.

    >>> merged(("a.b=1", "c=2", "a.b=3"))
    ('c=2', 'a.b=3')
    """
    last = {setting.partition("=")[0]: place for place, setting in enumerate(settings)}
    return tuple(setting for place, setting in enumerate(settings) if last[setting.partition("=")[0]] == place)


def possible(scenario: Scenario) -> bool:
    """Return whether the sections of a scenario fit together: what the reader checks, checked again."""
    mistakes = Mistakes()
    names = ("cluster", "training", "parallelism", "model", "stack", "failures", "recovery")
    check({name: getattr(scenario, name) for name in names}, mistakes)
    return len(mistakes) == 0


def layout(scenario: Scenario, what: str, **fields: Any) -> Change:
    """Return the scenario with other fields of its parallelism.

    Tensor parallelism that is new brings sequence parallelism on stacks that have it; layers are dealt anew by the
    stack's rule where they were dealt by hand for other stages.
    """
    old = scenario.parallelism
    assert old is not None
    settings = [f"parallelism.{name}={_text(value)}" for name, value in fields.items()]
    if fields.get("tensor", 1) > 1 and old.tensor == 1 and "sequence" not in fields:
        fields["sequence"] = scenario.stack.sequence
        settings.append(f"parallelism.sequence={_text(scenario.stack.sequence)}")
    if old.split is not None and {"pipeline", "schedule"} & fields.keys():
        fields["split"] = None
        settings.append("parallelism.split=null")
    return Change(what, tuple(settings), replace(scenario, parallelism=replace(old, **fields)))


def training(scenario: Scenario, what: str, settings: tuple[str, ...], **fields: Any) -> Change:
    return Change(what, settings, replace(scenario, training=replace(scenario.training, **fields)))


def stack(scenario: Scenario, what: str, **fields: Any) -> Change:
    settings = tuple(f"stack.{name}={_text(value)}" for name, value in fields.items())
    return Change(what, settings, replace(scenario, stack=replace(scenario.stack, **fields)))


def cluster(scenario: Scenario, what: str, settings: tuple[str, ...], **fields: Any) -> Change:
    return Change(what, settings, replace(scenario, cluster=replace(scenario.cluster, **fields)))


def _text(value: Any) -> str:
    """Return a value as YAML on one line.

    >>> _text(True), _text(4), _text(1.5)
    ('true', '4', '1.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    kind = getattr(value, "kind", None)
    if kind is None:
        return f"{value:g}" if isinstance(value, float) else str(value)
    chunks = f", chunks: {value.chunks}" if hasattr(value, "chunks") else ""
    return f"{{kind: {kind}{chunks}}}"
