"""Coverage-guided fuzzing of one door with Atheris: inputs that reach new code are kept and changed further.

    pip install -e '.[fuzz]'
    python tests/fuzz/coverage_guided.py check corpus -max_total_time=600 -timeout=20 -rss_limit_mb=1000

The first word is a door of `doors.py`, the second a folder for what is kept, filled with valid inputs at the first
start; the others are libFuzzer's. An input that breaks a promise ends the run and is written as ``crash-...``.
Two thirds of the changes are those of `mutation.py`, which know what values look like; the others are libFuzzer's.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
LEFT_OUT = ("simulator.explorer", "simulator.lab", "simulator.__main__", "simulator.studies.dask_plugins")
"""Rooms that no text from outside reaches here, or that need other extras."""

with atheris.instrument_imports(include=["simulator", "topologies"]):
    import simulator
    import topologies

    for package in (simulator, topologies):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(LEFT_OUT):
                importlib.import_module(module.name)

from doors import doors  # noqa: E402
from judge import tried  # noqa: E402
from mutation import mutated  # noqa: E402


def main(arguments: list[str]) -> None:
    """Fuzz the door that is named until libFuzzer is done."""
    known = doors()
    if len(arguments) < 3 or arguments[1] not in known:
        sys.exit(f"write a door and a folder; doors are {', '.join(known)}")
    door, corpus = known[arguments[1]], Path(arguments[2])
    seeds = door.seeds()
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (corpus / sha256(seed.encode()).hexdigest()[:16]).write_text(seed, encoding="utf-8")

    def one(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = tried(door, data, Path(folder))
        if found.complaint:
            raise AssertionError(found.complaint)

    def change(data: bytes, most: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if dice.random() < 1 / 3:
            return bytes(atheris.Mutate(data, most))
        return mutated(data.decode("utf-8", "replace"), dice, seeds)[:most]

    atheris.Setup([arguments[0], *arguments[2:]], one, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
