"""Refits what the package itself learned from runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.cli._streams import show, working
from simulator.errors import ScenarioError
from simulator.io.writing import fill

MOST_RUNS = 20
"""Runs of a family that a refit of the shared constants looks at."""
MOST_ERRORS = 150
"""Runs of a family whose errors count for the intervals: enough that most rows of the largest tables lie inside too."""


def shared(tables: Sequence[Path], *, out: Path | None, as_json: bool) -> None:
    """Refit the constants that all runs share, and the errors of families left out; show both, and write them."""
    from simulator import catalog
    from simulator.calibration import residuals
    from simulator.calibration.runs import left_out, refit, rewritten, slopes_of
    from simulator.cli.validate import Predict
    from simulator.engine.prices.constants import constants
    from simulator.io.printable import json_text
    from simulator.simulation import predict_step
    from simulator.studies.executors import spread
    from simulator.validation import files
    from simulator.validation.measured import measured

    with working("Fitting the constants that runs share"):
        read = [files.read(path) for path in tables]
        found = list(measured(read, Predict(), most=MOST_RUNS))
        if not found:
            raise ScenarioError("no run whose step time counts in the tables given")
        slopes = slopes_of(found, constants(), spread)
        fitted = refit(found, constants(), predict_step, spread, slopes=slopes)
        more = list(measured(read, Predict(), most=MOST_ERRORS))
        without = left_out(found, fitted, predict_step, spread, slopes=slopes)
        errors = residuals.errors(more, without, predict_step, spread)
    before = {constant.name: constant.value for constant in constants()}
    if as_json:
        show(json_text({one.name: {"before": before[one.name], "after": one.value} for one in fitted}))
    else:
        width = max(len(one.key) for one in fitted if "," not in one.key)
        lines = [f"{one.group:<12}{one.key:<{width}}  {before[one.name]:.3f} -> {one.value:.3f}" for one in fitted]
        show("\n".join(lines))
    if out is not None:
        shipped = Path(catalog.__file__).parent / "calibration" / "shared.yaml"
        fill(out, "shared.yaml", rewritten(shipped.read_text(encoding="utf-8"), fitted))
        fill(out, "residuals.yaml", residuals.text(errors))
