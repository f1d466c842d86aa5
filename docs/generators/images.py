"""The pictures of the documentation: those that the program draws, from runs of shipped scenarios."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from generators.examples import run
from simulator import shipped
from simulator.plots import gallery
from simulator.scenario import read
from simulator.simulation import simulate

SCENARIO = "published/llama-3.1-405b-16k"
PICTURES = ("waterfall", "pipeline", "memory_by_stage", "wall_clock", "network")
PLOTTED = re.compile(r"^\$ (?P<command>foretrain .* --plot (?P<file>\S+\.svg))$", flags=re.MULTILINE)


def draw(folder: Path) -> None:
    """Draw every picture as SVG into `folder`: those of a run, and those that pages plot."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made:
        for name, content in gallery.files(simulate(read(shipped.find(SCENARIO)))):
            if name.endswith(".svg") and Path(name).stem in PICTURES:
                (folder / name).write_bytes(content)
        for page in sorted(folder.parent.rglob("*.md")):
            for plotted in PLOTTED.finditer(page.read_text(encoding="utf-8")):
                with chdir(made):
                    run(plotted["command"])
                _keep(Path(made) / plotted["file"], folder)


def _keep(path: Path, folder: Path) -> None:
    (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
