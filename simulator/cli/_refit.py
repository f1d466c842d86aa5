"""Refits what the package itself learned from runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.cli._streams import show, working
from simulator.errors import ScenarioError
from simulator.io.writing import fill

if TYPE_CHECKING:
    from simulator.calibration.residuals import LeftOut
    from simulator.engine.prices.constants import Shared
    from simulator.outcome.ledger import Ledger
    from simulator.scenario import Scenario
    from simulator.simulation import Prediction
    from simulator.validation.files import Table

MOST_RUNS = 20
"""Runs of a family that a refit of the shared constants looks at."""


@dataclass(frozen=True)
class Predict:
    """Step and memory, with constants that were just fitted."""

    learned: Shared

    def __call__(self, scenario: Scenario) -> Prediction:
        from simulator.simulation import predict

        return predict(scenario, learned=self.learned)


def shared(tables: Sequence[Path], *, out: Path | None, as_json: bool) -> None:
    """Refit the constants that all runs share, the ledger and the width of ranges; show them, and write them."""
    from simulator.calibration.runs import refit, rewritten
    from simulator.cli.validate import Predict as Shipped
    from simulator.engine.prices.constants import Shared, constants
    from simulator.io.printable import json_text
    from simulator.simulation import predict_step
    from simulator.studies.executors import spread
    from simulator.validation.measured import measured

    read = _read(tables)
    with working("Fitting the constants that runs share"):
        found = list(measured(read, Shipped(), most=MOST_RUNS))
        if not found:
            raise ScenarioError("no run whose step time counts in the tables given")
        fitted = refit(found, constants(), predict_step, spread)
    before = {constant.name: constant.value for constant in constants()}
    if as_json:
        show(json_text({one.name: {"before": before[one.name], "after": one.value} for one in fitted}))
    else:
        width = max(len(one.key) for one in fitted if "," not in one.key)
        lines = [f"{one.group:<12}{one.key:<{width}}  {before[one.name]:.3f} -> {one.value:.3f}" for one in fitted]
        show("\n".join(lines))
    if out is not None:
        fill(out, "shared.yaml", rewritten(_shipped("shared.yaml"), fitted))
    _widths(read, Shared.of(fitted), out=out, as_json=as_json)


def ledger(tables: Sequence[Path], *, out: Path | None, as_json: bool) -> None:
    """Count again what stands behind stacks and accelerators, and how wide ranges must be; constants stay."""
    from simulator.engine.prices.constants import shared as constants_at_work

    _widths(_read(tables), constants_at_work(), out=out, as_json=as_json)


def _widths(read: Sequence[Table], learned: Shared, *, out: Path | None, as_json: bool) -> None:
    from simulator.calibration import residuals
    from simulator.calibration.ledger import ledger as counted
    from simulator.calibration.ledger import text
    from simulator.io.printable import json_text
    from simulator.outcome.ledger import merged, shipped
    from simulator.studies.executors import spread

    with working("Leaving out every source"):
        known: Ledger = merged(shipped(), counted(read))
        found: list[LeftOut] = residuals.left_out(read, known, Predict(learned), spread)
        if not found:
            raise ScenarioError("no run whose step time counts in the tables given")
        factor = max(residuals.scale(found), residuals.least())
        held = list(residuals.held(found, factor))
    if as_json:
        show(json_text({"scale": factor, "held": [one._asdict() for one in held]}))
    else:
        width = max(len(one.kind) for one in held)
        lines = [
            f"{one.kind:<{width}}  {one.works:>2} sources  {one.runs:>4} runs  held {one.share:4.0%}  ln width"
            f" {one.width:.2f}  interval score {one.score:.2f}"
            for one in held
        ]
        show("\n".join([f"ranges x {factor:.2f}; every source left out:", *lines]))
    if out is not None:
        fill(out, "ledger.yaml", text(known))
        fill(out, "residuals.yaml", residuals.rewritten(_shipped("residuals.yaml"), factor))


def _read(tables: Sequence[Path]) -> list[Table]:
    from simulator.validation import files

    return [files.read(path) for path in tables]


def _shipped(name: str) -> str:
    from simulator import catalog

    return (Path(catalog.__file__).parent / "calibration" / name).read_text(encoding="utf-8")
