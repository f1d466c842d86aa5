"""Where in a scenario a key stands: for those who remember its name and not its section."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.scenario.shape import Either, Kinds, Record, Shape

DEEPEST = 4
"""Keys of a path that is looked at."""
MOST = 3
"""Paths that are told; a name with more of them says too little."""

SEARCHED = "search"
"""The section whose keys are those of others, with lists of values."""


def hint(name: str, wanted: Shape) -> str:
    """Return a hint at the paths below `wanted` that end in `name`, shortest first; empty where it knows none.

    >>> from simulator.scenario.sections import Sections
    >>> hint("microbatch", Record(Sections))
    'did you mean `training.microbatch`?'
    """
    found = sorted({path for path in _paths(wanted, ()) if path[-1] == name}, key=lambda path: (len(path), path))
    found = [path for path in found if path[0] != SEARCHED] or found
    nearest = [".".join(path) for path in found if len(path) == len(found[0])]
    return f"did you mean {' or '.join(f'`{path}`' for path in nearest)}?" if 0 < len(nearest) <= MOST else ""


def _paths(wanted: Shape, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key below `wanted`, of all kinds; items of lists and free names have none."""
    match wanted:
        case Record() if len(above) < DEEPEST:
            for name, field in wanted.fields.items():
                yield (*above, name)
                yield from _paths(field.shape, (*above, name))
        case Kinds(records=records) | Either(members=records):
            for record in records:
                yield from _paths(record, above)
