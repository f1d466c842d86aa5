"""What `foretrain plan` does with its options: the machine, fitted laws, phases and what stands below a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.cli._amounts import amount
from simulator.errors import ScenarioError
from simulator.units import DollarsPerHour, FlopsPerSecond, Number, Share

if TYPE_CHECKING:
    from simulator.studies.plan.fit.fitted import Fit, FittedLaw
    from simulator.studies.plan.fit.runs import TrainingRuns
    from simulator.studies.plan.planning import Plan
    from simulator.studies.plan.run import Cluster

MOST_RESAMPLES = 10_000


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The options that say what trains."""

    scenario: str | None
    changes: tuple[str, ...]
    catalogs: tuple[Path, ...]
    gpu: str | None
    gpus: int | None
    peak: FlopsPerSecond | None
    mfu: Share | None
    rate: FlopsPerSecond | None
    factor: Number
    price: DollarsPerHour | None
    search: bool

    @property
    def typed(self) -> list[str]:
        """Return the options about a machine without a scenario."""
        options = {"--gpu": self.gpu, "--gpus": self.gpus, "--peak": self.peak, "--mfu": self.mfu, "--rate": self.rate}
        return [name for name, value in options.items() if value is not None]


def given(**values: Any) -> list[str]:
    """Return overrides for the values that are there."""
    return [f"{key}={value}" for key, value in values.items() if value is not None]


def days(text: str | None) -> float | None:
    """Return the days that a number or a duration means."""
    seconds = amount("--days", text, "s", 86400.0)
    return None if seconds is None else seconds / 86400.0


def cluster(machine: Machine) -> Cluster | None:
    """Return what runs the plan: a scenario's cluster, or numbers that were typed in, or nothing."""
    if machine.scenario is not None:
        return _simulated(machine)
    if machine.changes and machine.scenario is None and any("." in change for change in machine.changes):
        raise ScenarioError("--set changes a scenario, and none is given")
    if not machine.typed:
        return None
    from simulator.studies.plan.run import TypedIn

    peak = machine.peak if machine.peak is not None else _peak(machine)
    rate = machine.rate
    if rate is None:
        if machine.mfu is None or peak is None:
            raise ScenarioError(
                "a machine needs a rate: --rate, or --mfu with --gpu or --peak; a scenario has it simulated"
            )
        rate = machine.mfu * peak * machine.factor / 6
    elif machine.mfu is not None:
        raise ScenarioError("--rate and --mfu say the same; give one of them")
    if not rate > 0 or not machine.factor > 0:
        raise ScenarioError("--rate, --mfu and --factor: expected more than zero")
    if peak is not None and rate * 6 / machine.factor > peak:
        raise ScenarioError(f"the rate is {rate * 6 / machine.factor / peak:.0%} of the peak; no GPU does that")
    return TypedIn(gpus=machine.gpus, rate=rate, peak=peak, price=machine.price, factor=machine.factor)


def priced(machine: Cluster | None, dollars: float | None, time: float | None) -> tuple[Cluster | None, dict[str, Any]]:
    """Return the machine with the price at which so many dollars pay it for so many days, where none is given."""
    from simulator.studies.plan.run import TypedIn, price_of

    if dollars is None or time is None or not isinstance(machine, TypedIn) or machine.price is not None:
        return machine, {}
    if machine.gpus is None:
        return machine, {}
    price = price_of(dollars, machine.gpus, time)
    return replace(machine, price=price), {"price_per_gpu_hour": price}


def _peak(machine: Machine) -> FlopsPerSecond | None:
    if machine.gpu is None:
        return None
    from simulator import catalog
    from simulator.machine import hardware

    return hardware.gpu(catalog.canonical("gpu", machine.gpu, machine.catalogs)).peak_of("bf16")


def _simulated(machine: Machine) -> Cluster:
    from simulator import shipped
    from simulator.scenario import read
    from simulator.studies.plan.on_cluster import OnCluster

    if machine.typed:
        raise ScenarioError(f"{', '.join(machine.typed)}: the scenario says what trains and the simulation how fast")
    changes = [*machine.changes, *([] if machine.price is None else [f"prices.gpu_hour=${machine.price}"])]
    assert machine.scenario is not None
    path = machine.scenario if machine.scenario == "-" else shipped.find(machine.scenario)
    return OnCluster(read(path, overrides=changes, catalogs=machine.catalogs), machine.search)


@dataclass(frozen=True)
class Fitted:
    """A law from the user's runs, and what is printed where nothing else is asked."""

    fit: Fit
    runs: TrainingRuns
    text: str

    @property
    def law(self) -> FittedLaw:
        return self.fit.law


def fitted(path: Path, resamples: int, seed: int, as_json: bool) -> Fitted:
    """Return the law of a table of runs."""
    from simulator.cli._files import text_of
    from simulator.cli._streams import working
    from simulator.io.printable import json_text
    from simulator.report import fitted_law as report
    from simulator.studies.plan.fit.fitted import fitted as fit_runs
    from simulator.studies.plan.fit.record import record
    from simulator.studies.plan.fit.runs import parse

    if resamples > MOST_RESAMPLES:
        raise ScenarioError(f"--bootstrap {resamples}: at most {MOST_RESAMPLES:,}")
    table = parse(text_of(path), str(path))
    with working(f"Fitting {len(table):,} runs"):
        found = fit_runs(table, resamples, seed)
    document = record(found, table)
    return Fitted(found, table, json_text({"fit": document}) if as_json else report.write(document))


def extras(found: Plan, own: Fitted | None, observed: Number | None) -> dict[str, Any]:
    """Return what the user's runs add to a plan: fit, intervals of the prediction, whether a run is on track."""
    from simulator.studies.plan.fit import record

    more: dict[str, Any] = {}
    if own is not None:
        more["fit"] = record.record(own.fit, own.runs)
        more["prediction"] = record.prediction(own.fit, found)
    if observed is not None:
        more["track"] = record.track(found, own.fit if own is not None and own.law == found.law else None, observed)
    return more


def phases(path: Path, machine: Any, *, as_json: bool) -> None:
    """Print the budget of the phases in a file."""
    from dataclasses import asdict

    from simulator.cli._files import text_of
    from simulator.cli._streams import show, terminal, working
    from simulator.io.printable import json_text
    from simulator.report import phases as report
    from simulator.studies.plan import phases as budget

    if machine is None:
        raise ScenarioError("--phases needs a machine: a scenario, or --gpu and --mfu, or --rate")
    asked = budget.read(text_of(path, 1_000_000), str(path))
    with working("Adding up phases"):
        lines = budget.lines(asked, machine)
    if as_json:
        show(json_text({"phases": [asdict(line) for line in lines[:-1]], "total": asdict(lines[-1])}))
    else:
        show(report.write(lines, terminal()))
