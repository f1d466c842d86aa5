"""The pictures of the documentation: those that ``foretrain run --out`` draws, from runs of published scenarios."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from simulator import shipped
from simulator.plots import gallery
from simulator.scenario import read
from simulator.simulation import simulate

SCENARIO = "published/llama-3.1-405b-16k"
PICTURES = ("waterfall", "pipeline", "memory_by_stage", "wall_clock", "finish_dates", "network")


def draw(folder: Path) -> None:
    """Draw every picture as SVG into `folder`."""
    result = simulate(read(shipped.find(SCENARIO)))
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made:
        for path in gallery.save(result, Path(made)):
            if path.suffix == ".svg" and path.stem in PICTURES:
                (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
