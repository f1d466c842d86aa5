"""What `foretrain calibrate` does with each kind of measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.cli._amounts import amount
from simulator.cli._files import text_of
from simulator.cli._streams import show, terminal, working
from simulator.errors import ScenarioError
from simulator.io.writing import write

if TYPE_CHECKING:
    from simulator.calibration.software import Run
    from simulator.scenario.calibration import Calibration
    from simulator.units import Seconds


def learned(
    logs: Sequence[Path],
    tables: Sequence[Path],
    runs: Sequence[str],
    host: str | None,
    gpu: str | None,
    catalogs: Sequence[Path],
) -> Calibration:
    """Return what all measurements say together: the network, then products, then what is left to the software."""
    from simulator.calibration import nccl_tests, network, products, software
    from simulator.machine import hardware
    from simulator.scenario.calibration import Calibration

    found = Calibration()
    measured = [_run(text, catalogs) for text in runs]
    if logs:
        known = hardware.host(_named("host", host, "--nccl-tests", catalogs), catalogs)
        read = [nccl_tests.parse(text_of(path), path.name) for path in logs]
        links, evidence = network.learned(read, known)
        found = replace(found, host=known.name, network=links, evidence=(*found.evidence, evidence))
    if tables:
        device = hardware.gpu(_named("gpu", gpu, "--gemm", catalogs), catalogs)
        rows = [row for path in tables for row in products.parse(text_of(path), str(path))]
        told = products.learned(rows, device, ", ".join(path.name for path in tables))
        found = replace(
            found,
            gpu=device.name,
            products=told.factors,
            kernels=told.kernels,
            evidence=(*found.evidence, told.evidence),
        )
    if measured:
        first = measured[0].scenario
        if found.gpu not in ("", first.cluster.host.gpu.name):
            raise ScenarioError(
                f"--run is of {first.cluster.host.gpu.name}, --gemm of {found.gpu}; one file holds one GPU"
            )
        found = replace(found, gpu=first.cluster.host.gpu.name, stack=first.stack_name)
        with working(f"Learning from {len(measured)} runs"):
            factor, evidence = software.learned(measured, found)
        found = replace(found, software=factor, evidence=(*found.evidence, evidence))
    return found


def failures(
    path: Path,
    *,
    host: str | None,
    hosts: int | None,
    wall: str | None,
    out: Path | None,
    as_json: bool,
    catalogs: Sequence[Path],
) -> None:
    """Print the rates in a log of failures, and write the preset."""
    from simulator.calibration import failures as rates
    from simulator.io.printable import json_text
    from simulator.machine import hardware
    from simulator.report import calibration as report

    if hosts is None:
        raise ScenarioError("--failures needs --hosts, how many were watched")
    known = hardware.host(_named("host", host, "--failures", catalogs), catalogs)
    watched = rates.Watched(
        gpus=hosts * known.gpus, hosts=hosts, nics=max(hosts * known.nics, 1), wall=amount("--wall", wall, "s")
    )
    classes = rates.parse(text_of(path), str(path), watched)
    shown = {"failures": [asdict(one) | {"rate": one.rate._asdict()} for one in classes]}
    show(json_text(shown) if as_json else report.failures(classes, terminal()))
    if out is not None:
        write(out, rates.preset(classes, watched, f"{path.name}, {hosts:,} {known.name}"))


def machine(*, out: Path | None, plot: Path | None, as_json: bool, gpu: str | None, catalogs: Sequence[Path]) -> None:
    """Measure this machine and print its roofline."""
    from simulator.cli._roofline import measure

    measure(out=out, plot=plot, as_json=as_json, gpu=gpu, catalogs=catalogs)


def _named(kind: str, name: str | None, option: str, catalogs: Sequence[Path]) -> str:
    from simulator import catalog

    if name is None:
        raise ScenarioError(f"{option} needs --{kind}, what was measured; `foretrain catalog {kind}` lists them")
    return catalog.canonical(kind, name, catalogs)


def _run(text: str, catalogs: Sequence[Path]) -> Run:
    """Return the run that ``SCENARIO=STEP`` means."""
    from simulator import shipped
    from simulator.calibration.software import Run
    from simulator.scenario import read

    name, equals, said = text.rpartition("=")
    if not equals or not name or not said:
        raise ScenarioError(f"--run {text[:80]}: expected SCENARIO=STEP, such as mine.yaml=train.log or mine.yaml=8.4s")
    scenario = read(shipped.find(name), catalogs=catalogs)
    if scenario.model is None or scenario.training.step_time is not None:
        raise ScenarioError(f"--run {name}: the scenario gives its step; one that is predicted is needed")
    if Path(said).exists():
        from simulator.measured.explained import step_time

        seconds, kind = step_time(text_of(Path(said)), said, scenario)
        return Run(replace(scenario, calibration=None), seconds, f"{Path(said).name} ({kind})")
    training = scenario.training
    return Run(replace(scenario, calibration=None), _typed(said, training.step_tokens), said)


def _typed(said: str, tokens: float) -> Seconds:
    """Return the step that a duration or a rate in tokens a second says."""
    for suffix in ("tokens/s", "tok/s"):
        if said.endswith(suffix):
            rate = amount("--run", said.removesuffix(suffix).strip(), "count")
            if not rate:
                raise ScenarioError("--run: no tokens a second")
            return tokens / rate
    from simulator import units

    try:
        seconds = units.parse(said, "s")
    except ValueError:
        raise ScenarioError(
            f"--run: {said[:80]!r} is no file, no duration such as 8.4s and no rate such as 52000tokens/s"
        ) from None
    if not seconds > 0:
        raise ScenarioError("--run: a step takes more than no time")
    return seconds
