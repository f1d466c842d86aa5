"""The story: a scenario goes in, the whole training run comes out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, inf

from simulator import plugins
from simulator.engine import run
from simulator.engine.prices.assembly import assembly, network_of
from simulator.engine.prices.calibrated import of_network
from simulator.engine.prices.constants import Shared, shared
from simulator.engine.prices.straggler import straggling
from simulator.engine.run import Mapped
from simulator.engine.step import simulated, stage_clocks
from simulator.engine.step.local_clock import Timing
from simulator.errors import ForetrainError, ScenarioError
from simulator.machine.fault import Fault
from simulator.machine.power import host_power
from simulator.outcome import everything, narrowing, near_limit
from simulator.outcome.accounts import memory_result, model_size, step_result
from simulator.outcome.campaign import run_input, run_result, stretches
from simulator.outcome.cost import cost
from simulator.outcome.expectations import expected
from simulator.outcome.intervals import step_error
from simulator.outcome.ledger import shipped
from simulator.outcome.levels import doubts
from simulator.outcome.occupancy import occupancy
from simulator.outcome.results import Assumption, Result, RunResult
from simulator.outcome.step_error import SURE, StepError
from simulator.outcome.stretch import Stretch
from simulator.outcome.targets import missed
from simulator.outcome.uneven import uneven
from simulator.outcome.unknown import Really, unknown
from simulator.scenario.cluster import Cluster
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.units import Count, Joules, Number, Seconds, Share
from simulator.version import version
from simulator.workload import memory
from simulator.workload.memory import MemoryEstimate
from simulator.workload.training import Phase, Training

NOT_MODELLED = (
    "fragmentation beyond the allocator's mean",
    "memory of CUDA graphs",
    "data loading beyond training.data_stall",
    "heat over the day",
)


@dataclass(frozen=True)
class Prediction:
    """The quick answer: one simulated step, and memory, without the run."""

    step_time_s: Seconds
    time_low_s: Seconds
    time_high_s: Seconds
    parts_s: dict[str, Seconds]
    memory: MemoryEstimate


def predict(scenario: Scenario, *, learned: Shared | None = None, without: Collection[str] = ()) -> Prediction:
    """Return step time and memory of a scenario, without the run.

    `learned` are other constants than those that ship, `without` terms of the physics to switch off.
    """
    timing = simulated.time(assembly(scenario, learned, without).step())
    if "bubble" in without:
        idle = timing.parts.pop("bubble", 0.0)
        timing = timing._replace(seconds=timing.seconds - idle)
    seconds, parts = spread_out(scenario, timing)
    error = step_error(scenario, parts)
    return Prediction(seconds, seconds * error.low, seconds * error.high, parts, fits(scenario))


def predict_step(scenario: Scenario, learned: Shared) -> Seconds:
    """Return the step alone, with other shared constants than those that ship."""
    return spread_out(scenario, simulated.time(assembly(scenario, learned).step()))[0]


def step_without_sharing(scenario: Scenario, learned: Shared) -> Seconds:
    """Return the same with every transfer alone on its links, which takes much less time to work out."""
    return spread_out(scenario, stage_clocks.time(assembly(scenario, learned).step()))[0]


def simulate(scenario: Scenario, mapped: Mapped = map) -> Result:
    """Return what the whole training run does; `mapped` is given its runs where they take long.

    A run that makes no progress, or a model that does not fit, is a result that says so. Raises ScenarioError where the
    scenario contradicts itself.
    """
    built = assembly(scenario) if scenario.training.step_time is None else None
    played = simulated.simulate(built.step()) if built else None
    timing = played.timing if played else measured(scenario)
    seconds, parts = spread_out(scenario, timing)

    held = fits(scenario) if scenario.model and scenario.parallelism else None

    error = step_error(scenario, parts)
    told = step_result(scenario, seconds, parts, error, built, played)

    whole = run_input(scenario, useful_work(scenario, seconds), seconds, step_factor(scenario))
    outcomes = run.spread(whole, scenario.seed, scenario.runs, mapped)
    happened = run_result(scenario, whole, outcomes, told.mfu)
    luck = stretches(whole, outcomes) if happened.progress else (Stretch(inf),)
    unknowns = unknown(scenario)
    vary = Really(unknowns) if unknowns.any and happened.progress else None
    really = run.spread(whole, scenario.seed, scenario.runs, mapped, vary) if vary else outcomes
    unsure = error if scenario.training.duration is None else SURE
    doubted = stretches(whole, really) if vary else luck
    happened = everything.with_every_doubt(happened, doubted, really, unsure)

    prices, rented = scenario.prices, scenario.cluster.hosts + (scenario.cluster.spares or 0)
    bill = cost(
        happened.wall_clock_s,
        gpus=rented * scenario.gpus_per_host,
        gpu_hour=prices.gpu_hour,
        spare_gpus=(scenario.cluster.spares or 0) * scenario.gpus_per_host,
        energy=energy(scenario, happened, parts),
        electricity=prices.electricity,
        pue=prices.pue,
        carbon=prices.carbon,
        luck=happened.luck.wall_clock_s if happened.luck else None,
    )
    known = what_is_known(scenario, happened, doubted, unsure, parts, vary.drawn(whole, len(doubted)) if vary else {})
    result = Result(
        version=version(),
        scenario=scenario.resolved,
        seed=scenario.seed,
        verdict=held.verdict if held else None,
        warnings=(*scenario.warnings, *near_limit.warnings(held, scenario.stack)),
        assumptions=tuple(Assumption(key=a.key, value=a.value, source=a.source) for a in scenario.assumptions),
        model=model_size(scenario),
        step=told,
        memory=memory_result(held) if held else None,
        run=happened,
        cost=bill,
        targets=missed(
            scenario.targets,
            doubted,
            unsure,
            bill.dollars.mean / happened.wall_clock_s.mean,
            luck,
        ),
        not_modelled=NOT_MODELLED,
        plugins=plugins.loaded(),
        uncertainty=narrowing.ranked(known, bill.dollars.mean / happened.wall_clock_s.mean),
        ends=doubted,
        spans=played.spans if played else (),
        occupancy=occupancy(scenario, played.spans) if played else (),
    )
    return replace(result, expected=expected(scenario.expect, result.as_dict())) if scenario.expect else result


def what_is_known(
    scenario: Scenario,
    happened: RunResult,
    runs: Sequence[Stretch],
    error: StepError,
    parts: Mapping[str, Seconds],
    drawn: Mapping[str, Sequence[Number]],
) -> narrowing.Known:
    """Return what is known of a run, and what each simulated one drew."""
    unsure = () if error is SURE else doubts(scenario, parts, shipped())
    expected = narrowing.expected(happened.interruptions["mean"], happened.wall_clock_s.mean)
    return narrowing.Known(tuple(runs), error, unsure, parts["compute"] / added(parts.values()), drawn, expected)


def measured(scenario: Scenario) -> Timing:
    """Return the step that the scenario gives."""
    seconds = scenario.training.step_time or 0.0
    return Timing(seconds, 0, {"compute": seconds})


def spread_out(scenario: Scenario, timing: Timing) -> tuple[Seconds, dict[str, Seconds]]:
    """Return the step with what it waits for slow ranks, longer samples and data, and its account."""
    training = scenario.training
    straggle = straggling(scenario.jitter, scenario.gpus, scenario.cluster.hosts)
    slow = straggle.factor * network_of(scenario.cluster, of_network(scenario)).slow
    parts = dict(timing.parts)
    parts["expert"] = parts.get("expert", 0.0) + parts.pop("expert_tensor", 0.0)
    added_by = uneven(scenario)
    longer = timing.seconds * (1 + added_by.total)
    if added_by.total:
        parts["compute"] = parts.get("compute", 0.0) + timing.seconds * added_by.compute
        parts["bubble"] = parts.get("bubble", 0.0) + timing.seconds * added_by.bubble
    parts["straggler"] = timing.seconds * added_by.waiting + longer * (slow - 1)
    seconds = longer * slow
    stall = (training.data_stall or 0.0) + seconds * (training.data_stall_share or 0.0)
    parts["stall"] = stall
    return seconds + stall, parts


def useful_work(scenario: Scenario, seconds: Seconds) -> Seconds:
    """Return the useful time of the run: steps times their time, skipped steps done again.

    Phases come first, each with a step of its own; what they leave of the run is done in steps of `seconds`.
    """
    training = scenario.training
    if training.duration is not None:
        return training.duration
    again = 1 / (1 - training.precision.skipped_steps)
    alike = {phase: replace(phase, tokens=0) for phase in training.phases}
    each = {phase: _step(scenario, phase, seconds) for phase in dict.fromkeys(alike.values())}
    before = again * added(_steps(scenario, phase) * each[alike[phase]] for phase in training.phases)
    return before + again * _steps_after_phases(scenario) * seconds


def total_steps(scenario: Scenario) -> Count:
    """Return the steps of the run, those of its phases included; 0 where it only lasts a time."""
    if scenario.training.duration is not None:
        return 0
    return sum(_steps(scenario, phase) for phase in scenario.training.phases) + _steps_after_phases(scenario)


def _steps_after_phases(scenario: Scenario) -> Count:
    training = scenario.training
    if training.steps is not None:
        left = training.steps - sum(_steps(scenario, phase) for phase in training.phases)
    else:
        tokens = (training.tokens or 0) - sum(phase.tokens for phase in training.phases)
        left = ceil(tokens / training.step_tokens)
    return max(left, 0)


def _steps(scenario: Scenario, phase: Phase) -> Count:
    return ceil(phase.tokens / _of_phase(scenario.training, phase).step_tokens)


def _of_phase(training: Training, phase: Phase) -> Training:
    sequence = phase.sequence_length or training.sequence_length
    return replace(training, global_batch=phase.global_batch, sequence_length=sequence, phases=())


def _step(scenario: Scenario, phase: Phase, measured: Seconds) -> Seconds:
    """Return the time of a step of a phase; a measured one is that of all."""
    if scenario.training.step_time is not None:
        return measured
    part = replace(scenario, training=_of_phase(scenario.training, phase))
    return spread_out(part, simulated.time(assembly(part).step()))[0]


def fits(scenario: Scenario) -> MemoryEstimate:
    """Return the peak memory of every stage, and whether the worst one fits."""
    host = scenario.cluster.host
    return memory.estimate(
        scenario.longest.replica,
        usable=host.gpu.usable_memory,
        capacity=host.gpu.memory,
        gpus_per_host=host.gpus,
        host_memory=host.memory,
    )


@dataclass(frozen=True)
class DegradedStep:
    """What degraded units do to the step of a scenario, each combination worked out once."""

    scenario: Scenario

    def __call__(self, degraded: tuple[tuple[str, Share], ...]) -> Number:
        if degraded not in self._known:
            self._known[degraded] = predict_step(_sick(self.scenario, degraded), shared()) / self._healthy
        return self._known[degraded]

    @cached_property
    def _healthy(self) -> Seconds:
        return predict_step(self.scenario, shared())

    @cached_property
    def _known(self) -> dict[tuple[tuple[str, Share], ...], Number]:
        return {}


def step_factor(scenario: Scenario) -> DegradedStep | None:
    """Return what degraded units do to the step; None for a measured step.

    A failure that leaves no way around does not degrade a job but stops it: a ScenarioError says so.
    """
    if scenario.training.step_time is not None or scenario.cluster.hosts == 1:
        return None
    for cause in scenario.failures.causes:
        if cause.effect == "degrade":
            try:
                network_of(_sick(scenario, [(cause.unit, cause.bandwidth)]).cluster)
            except ForetrainError as error:
                raise ScenarioError(f"failures: {cause.label} cannot degrade the job, only crash it: {error}") from None
    return DegradedStep(scenario)


def _sick(scenario: Scenario, degraded: Iterable[tuple[str, Share]]) -> Scenario:
    """Return the scenario with one of each unit degraded; whichever it is, the step waits for all."""
    cluster = scenario.cluster
    faults = (*cluster.faults, *(_fault(cluster, unit, share) for unit, share in degraded))
    return replace(scenario, cluster=replace(cluster, faults=faults))


def _fault(cluster: Cluster, unit: str, share: Share) -> Fault:
    """Return a degraded unit of the job's first host as a fault; of a rack or more hosts one stands for all."""
    network = network_of(cluster)
    host = network.order[0]
    if unit in ("gpu", "nic", "link"):
        return Fault(nic=f"{host}/0", bandwidth=share)
    if unit == "switch":
        return Fault(switch=network.switch_of(host), bandwidth=share)
    return Fault(host=host, bandwidth=share)


def energy(scenario: Scenario, happened: RunResult, parts: dict[str, Seconds]) -> Joules:
    """Return what all rented hosts draw over the mean run: busy while they train, idle otherwise."""
    cluster, whole = scenario.cluster, added(parts.values())
    computing = (parts.get("compute", 0.0) + parts.get("recompute", 0.0) + parts.get("optimizer", 0.0)) / whole
    talking = added(parts.get(name, 0.0) for name in ("tensor", "context", "expert", "pipeline", "data")) / whole
    train = happened.parts_s["train"] + happened.parts_s["lost"] + happened.parts_s["degraded"]
    idle = happened.wall_clock_s.mean - train
    busy = host_power(cluster.host, computing, talking) * train + host_power(cluster.host, 0.0) * idle
    spare = host_power(cluster.host, 0.0) * happened.wall_clock_s.mean * (cluster.spares or 0)
    return cluster.hosts * busy + spare
