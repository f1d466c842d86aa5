"""Say why a measured run takes longer than it should, from its log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli._options import Catalogs, Json, Overrides
from simulator.cli._study import Plot

Asked = Annotated[
    str | None,
    typer.Argument(metavar="[SCENARIO]", help="What ran, as YAML or a shipped name; left out: the log alone."),
]
LogFile = Annotated[
    Path, typer.Option("--log", metavar="FILE", help="The log of one run, plain or gzip; `-` is standard input.")
]
FailOver = Annotated[
    str | None, typer.Option("--fail-over", metavar="SHARE", help="Exit 1 when the gap is larger, such as 10%.")
]
Folder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write the JSON and the picture here.")]


def command(
    log: LogFile,
    scenario: Asked = None,
    overrides: Overrides = None,
    catalogs: Catalogs = None,
    fail_over: FailOver = None,
    as_json: Json = False,
    plot: Plot = None,
    out: Folder = None,
) -> None:
    """Say why a measured run takes longer than it should, from its log.

    Reads logs of Megatron-LM, torchtitan, NeMo, DeepSpeed, MaxText, MLPerf,
    nanoGPT, JSON lines, CSV and TensorBoard scalars. With a scenario the steps
    are held against the prediction and its range; without one, against the
    run's own undisturbed steps. Exits 1 when the gap is over --fail-over, or
    out of range for no reason that a log shows; 2 when the log is no log, or
    not of the scenario: other batches, sequences or GPUs.

    Examples:
      foretrain explain mine.yaml --log train.log
      foretrain explain --log train.log
      foretrain explain mine.yaml --log train.log --fail-over 10% --json
    """
    from simulator import shipped, units
    from simulator.cli._files import log_text
    from simulator.cli._streams import show, terminal, warn
    from simulator.errors import ScenarioError
    from simulator.io.printable import json_text
    from simulator.io.writing import fill
    from simulator.measured.explained import explain, gap_share
    from simulator.plots import canvas, steps_of_a_log
    from simulator.report import explained
    from simulator.scenario import read

    if plot is not None:
        canvas.check(plot)
    if scenario is None and overrides:
        raise ScenarioError("--set changes a scenario; name one, or leave it out")
    try:
        most = units.parse(fail_over, "share") if fail_over is not None else None
    except ValueError as error:
        raise ScenarioError(f"--fail-over {fail_over[:40] if fail_over else ''}: {error}") from None
    path = (Path("-") if scenario == "-" else shipped.find(scenario)) if scenario is not None else None
    asked = read(path, overrides=overrides or (), catalogs=catalogs or ()) if path is not None else None
    told = explain(log_text(log), str(log), asked)
    warn(told.warnings)
    show(json_text(told.as_dict()) if as_json else explained.write(told, terminal()))
    if plot is not None:
        canvas.save(lambda axes: steps_of_a_log.draw(told, axes), plot)
    if out is not None:
        fill(out, "explained.json", json_text(told.as_dict()))
        for name, content in canvas.files(lambda axes: steps_of_a_log.draw(told, axes), "steps"):
            fill(out, name, content)
    if told.is_unexplained or (most is not None and abs(gap_share(told)) > most):
        raise typer.Exit(1)
