"""Experiments on this machine: roofline, a scaling study, data parallelism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from simulator.cli._options import Json

Experiment = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="roofline, scaling or data-parallel.")]
Backend = Annotated[str, typer.Option("--backend", metavar="NAME", help="auto, numpy or torch; of the roofline.")]
Quick = Annotated[bool, typer.Option("--quick", help="Smaller and sooner, to see that it works.")]
Ranks = Annotated[int, typer.Option("--ranks", metavar="N", min=1, max=64, help="Processes of data-parallel.")]
Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, max=1024, help="Threads of the scaling study.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**63, help="Of weights and batches.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the runs of scaling as CSV, else YAML.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the roofline.")]
KINDS = ("roofline", "scaling", "data-parallel")


def command(
    experiment: Experiment,
    backend: Backend = "auto",
    quick: Quick = False,
    ranks: Ranks = 4,
    threads: Threads = None,
    seed: Seed = 0,
    as_json: Json = False,
    plot: Plot = None,
    out: Out = None,
) -> None:
    """Do the three experiments of the subject on this machine, on its CPU.

    roofline measures matrix products and memory by size, with numpy or torch.
    scaling trains byte-level GPTs of five sizes on the source of Python's
    standard library and fits a law to them. data-parallel trains on several
    gloo processes, compares their gradient with that of the whole batch, and
    their step with what foretrain predicts for this machine. The last two take
    minutes and need PyTorch.

    Examples:
      foretrain lab roofline --plot roofline.png
      foretrain lab scaling --out runs.csv
      foretrain lab data-parallel --ranks 4
    """
    from simulator.errors import ScenarioError
    from simulator.lab import torch_needed

    if experiment not in KINDS:
        raise ScenarioError(f"no experiment named {experiment[:40]!r}; there are {', '.join(KINDS)}")
    if experiment == "roofline":
        from simulator.cli._roofline import measure

        measure(out=out, plot=plot, as_json=as_json, with_backend=backend, quick=quick)
        return
    torch_needed.check()
    if experiment == "scaling":
        _scaling(quick=quick, threads=threads, seed=seed, as_json=as_json, out=out)
    else:
        _data_parallel(ranks, quick=quick, as_json=as_json, out=out)


def _scaling(*, quick: bool, threads: int | None, seed: int, as_json: bool, out: Path | None) -> None:
    import torch

    from simulator.cli._progress import progress
    from simulator.cli._streams import show, terminal
    from simulator.io.printable import json_text
    from simulator.io.writing import write
    from simulator.lab import scaling
    from simulator.report import experiments, fitted_law
    from simulator.report.rows import csv_text
    from simulator.studies.plan.fit.fitted import fitted
    from simulator.studies.plan.fit.record import record
    from simulator.studies.plan.fit.runs import runs

    if threads is not None:
        torch.set_num_threads(threads)
    shapes = scaling.SHAPES[:2] if quick else scaling.SHAPES
    readings = scaling.READINGS[:4] if quick else scaling.READINGS
    with progress("Training", len(shapes) * len(readings)) as done:
        found = list(scaling.study(shapes, readings, seed, done))
    rows = [{"params": row.parameters, "tokens": row.tokens, "loss": row.loss} for row in found]
    table = runs([(row.parameters, row.tokens, row.loss) for row in found])
    document = record(fitted(table, 20 if quick else 200, seed), table)
    if as_json:
        show(json_text({"runs": rows, "fit": document}))
    else:
        show(experiments.study(rows, terminal()), "\n", fitted_law.write(document))
    if out is not None:
        write(out, csv_text(rows))


def _data_parallel(ranks: int, *, quick: bool, as_json: bool, out: Path | None) -> None:
    import yaml

    from simulator.cli._streams import show, terminal, working
    from simulator.io.printable import json_text
    from simulator.io.writing import write
    from simulator.lab import data_parallel, prediction
    from simulator.lab.byte_gpt import Shape
    from simulator.report import experiments

    setup = data_parallel.Setup(Shape(2, 64, 64), 4, 5, float(1 << 20), 0.02) if quick else data_parallel.Setup()
    with working(f"Training on {ranks} processes"):
        measured = data_parallel.experiment(ranks, setup)
    predicted = prediction.predicted(
        layers=setup.shape.layers,
        hidden=setup.shape.hidden,
        context=setup.shape.context,
        batch=setup.batch,
        ranks=ranks,
        kernels=measured.kernels,
    )
    found: dict[str, Any] = {
        "ranks": ranks,
        "parameters": setup.shape.parameters,
        "gradient_difference": measured.difference,
        "measured_step_s": measured.step,
        "predicted_step_s": predicted.step,
        "measured_all_reduce_s": measured.all_reduce,
        "predicted_all_reduce_s": predicted.all_reduce,
        "factors": predicted.calibration.factors(),
        "evidence": [
            {"source": one.source, "rows": one.rows, "before": one.before, "after": one.after}
            for one in predicted.calibration.evidence
        ],
    }
    show(json_text(found) if as_json else experiments.data_parallel(found, terminal()))
    if out is not None:
        write(out, yaml.safe_dump(found, sort_keys=False))
    if measured.difference > experiments.SAME:
        raise typer.Exit(1)
