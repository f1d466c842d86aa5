"""Learn from measurements: a calibration file that scenarios can name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli._options import Catalogs, Json

if TYPE_CHECKING:
    from simulator.scenario.calibration import Calibration

Nccl = Annotated[
    list[Path] | None, typer.Option("--nccl-tests", metavar="LOG", help="Output of nccl-tests; may be repeated.")
]
Gemm = Annotated[
    list[Path] | None, typer.Option("--gemm", metavar="CSV", help="Matrix products: m, n, k, time_us, dtype.")
]
Run = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="SCENARIO=STEP",
        help="A measured step: seconds, tokens/s, or a log of Megatron-LM, torchtitan or NeMo; may be repeated.",
    ),
]
Host = Annotated[str | None, typer.Option("--host", metavar="NAME", help="The host that was measured.")]
GpuName = Annotated[str | None, typer.Option("--gpu", metavar="NAME", help="The GPU that was measured.")]
Failures = Annotated[
    Path | None,
    typer.Option("--failures", metavar="CSV", help="A log of failures: our columns, LANL, Titan or Slurm."),
]
Hosts = Annotated[
    int | None, typer.Option("--hosts", metavar="N", min=1, max=1_000_000, help="Hosts that --failures watched.")
]
Wall = Annotated[str | None, typer.Option("--wall", metavar="TIME", help="How long they were watched, such as 54d.")]
Runs = Annotated[
    list[Path] | None,
    typer.Option(
        "--runs", metavar="CSV", help="Refit the constants that all runs share, on tables of runs; may be repeated."
    ),
]
Ledger = Annotated[
    bool,
    typer.Option("--ledger", help="With --runs: what stands behind each stack and GPU, and the width of ranges, only."),
]
Kernels = Annotated[
    list[Path] | None,
    typer.Option("--kernels", metavar="CSV", help="Refit the kernel constants of the package; may be repeated."),
]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(
        "--leave-out",
        metavar="NAME",
        help="With --kernels: predict products of gpu:NAME or architecture:NAME from all others, or of each:gpu.",
    ),
]
Measure = Annotated[bool, typer.Option("--measure", help="Measure the roofline of this machine.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the calibration, or the preset, here.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the roofline of --measure.")]


def command(
    nccl_tests: Nccl = None,
    gemm: Gemm = None,
    run: Run = None,
    host: Host = None,
    gpu: GpuName = None,
    failures: Failures = None,
    hosts: Hosts = None,
    wall: Wall = None,
    measure: Measure = False,
    runs: Runs = None,
    ledger: Ledger = False,
    kernels: Kernels = None,
    leave_out: LeaveOut = None,
    catalogs: Catalogs = None,
    as_json: Json = False,
    plot: Plot = None,
    out: Out = None,
) -> None:
    """Learn from measurements that you have, and write them for scenarios.

    nccl-tests logs give factors on the network of a host, a table of matrix
    products on the rates of a GPU, measured steps on a stack. Prints the error
    of predictions before and after. A scenario takes the file by
    `calibration: FILE`; factors are applied only to the host, GPU and stack
    they were measured on. --failures fits the rate of each class of failures,
    units that still run included, and writes a preset for `failures:`. Its log
    is a CSV with cause and time, or cause, lifetime and ended; LANL's failure
    log; Titan's GPU lifetimes; or `sacct --parsable2`. --runs
    refits the shared constants of the package itself, counts which published
    runs stand behind each stack and GPU, and how wide ranges must be, and
    writes all into the folder --out, for a commit by hand; with --ledger the
    constants stay as they are, which takes a few minutes. --kernels fits the
    constants of products and attention to tables of kernels, and writes their
    entries into the folder --out; with --leave-out it writes nothing and shows
    how wrong products are on a GPU or an architecture that nobody measured.

    Examples:
      foretrain calibrate --nccl-tests ar.log --host dgx-h100 --out mine.yaml
      foretrain calibrate --gemm gemm.csv --gpu h100-sxm-80gb --out mine.yaml
      foretrain calibrate --run mine.yaml=train.log --run big.yaml=8.4s
      foretrain calibrate --failures log.csv --host hgx-h100 --hosts 128
        --wall 54d --out catalog/failures/ours.yaml
      foretrain calibrate --measure --plot roofline.png
      foretrain calibrate --runs runs.csv --out simulator/catalog/calibration
      foretrain calibrate --ledger --runs runs.csv
        --out simulator/catalog/calibration
      foretrain calibrate --kernels gemm.csv --leave-out each:architecture
    """
    from simulator.cli import _measured
    from simulator.errors import ScenarioError

    if failures is not None:
        _measured.failures(
            failures, host=host, hosts=hosts, wall=wall, out=out, as_json=as_json, catalogs=catalogs or ()
        )
    elif measure:
        _measured.machine(out=out, plot=plot, as_json=as_json, gpu=gpu, catalogs=catalogs or ())
    elif runs:
        from simulator.cli import _refit

        (_refit.ledger if ledger else _refit.shared)(runs, out=out, as_json=as_json)
    elif kernels:
        from simulator.cli import _kernels

        if leave_out:
            _kernels.left_out(kernels, leave_out, as_json=as_json)
        elif out is not None:
            _kernels.rewrite(kernels, out=out)
        else:
            raise ScenarioError("--kernels needs --out, the folder to write into, or --leave-out")
    elif nccl_tests or gemm or run:
        found = _measured.learned(nccl_tests or (), gemm or (), run or (), host, gpu, catalogs or ())
        _show(found, out, as_json)
    else:
        raise ScenarioError(
            "nothing to learn from; give --nccl-tests, --gemm, --run, --runs, --kernels, --failures or --measure"
        )


def _show(found: Calibration, out: Path | None, as_json: bool) -> None:
    from dataclasses import asdict

    from simulator.calibration.file import text
    from simulator.cli._streams import say, show, terminal
    from simulator.io.printable import json_text
    from simulator.io.writing import write
    from simulator.report import calibration as report

    show(json_text(asdict(found)) if as_json else report.write(found, terminal()))
    if out is not None:
        write(out, text(found))
        say(f"{out} written; a scenario takes it by `calibration: {out}`")
