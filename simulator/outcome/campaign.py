"""From a step to the whole run: useful work, units that can fail, what a save costs; and what the outcomes say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf, isfinite

from simulator.engine.prices.assembly import host_side, network_of
from simulator.engine.run import PARTS, Outcome, RunInput, StepFactor, mtbf, plan
from simulator.machine.collectives.links import fabric as links
from simulator.machine.collectives.links import fabric_of
from simulator.machine.network import FabricParts
from simulator.outcome.cost import distribution
from simulator.outcome.results import RunLuck, RunResult
from simulator.outcome.stretch import Stretch
from simulator.reliability import spares
from simulator.reliability.advice import interval_advice
from simulator.reliability.checkpointing.cost import SaveCost, copy_time, save_cost
from simulator.reliability.checkpointing.tier import Tier
from simulator.reliability.fleet import Failures, Planned
from simulator.reliability.goodput import definitions
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.units import Bytes, Number, Seconds, Share
from simulator.workload import states
from simulator.workload.replica import state_dictionary

HOSTS_PER_RACK = 4
"""Eight-GPU hosts of 10 kW in a rack, where neither fabric nor scale-up domain says (DGX H100 SuperPOD)."""
RACKS_PER_POWER_ROW = 8


def run_input(scenario: Scenario, useful: Seconds, step: Seconds, step_factor: StepFactor | None = None) -> RunInput:
    """Return the run of `useful` seconds of work whose step takes `step`."""
    cluster, evaluation = scenario.cluster, scenario.training.evaluation
    fabric, hosts_of = network_of(cluster).parts, _hosts_of(scenario)
    units = {name: ceil(cluster.hosts / hosts) for name, hosts in hosts_of.items()} | {
        "gpu": scenario.gpus,
        "host": cluster.hosts,
        "nic": cluster.hosts * cluster.host.nics,
        "link": fabric.cables,
        "switch": fabric.switches,
    }
    return RunInput(
        work=useful,
        units=units,
        hosts_of=hosts_of,
        failures=_draining(scenario.failures, fabric),
        checkpoint=scenario.checkpoint,
        save_cost=_save_cost(scenario, step_factor),
        recovery=scenario.recovery,
        spares=cluster.spares,
        evaluate_every=evaluation.every * step if evaluation else float("inf"),
        evaluation=evaluation.time if evaluation else 0.0,
        step_factor=step_factor,
    )


def _draining(failures: Failures, fabric: FabricParts) -> Failures:
    """Return the failures with what a switch takes away: its hosts if any hang on it, none if it joins switches."""
    share = fabric.edge_switches / fabric.switches if fabric.switches else 0.0
    causes = [
        replace(cause, drains=cause.drains * share) if cause.unit == "switch" and cause.hosts is None else cause
        for cause in failures.causes
    ]
    return replace(failures, causes=tuple(causes))


def _hosts_of(scenario: Scenario) -> dict[str, int]:
    """Return the hosts behind one switch, rack, pod and power row; hosts that a scale-up switch joins are a rack."""
    cluster, network = scenario.cluster, network_of(scenario.cluster)
    leaf = min(network.hosts_behind("leaf") or HOSTS_PER_RACK, cluster.hosts)
    gpu, domain = cluster.host.gpu, cluster.host.scale_up.domain // cluster.host.gpus
    joined = domain > 1 and links(fabric_of(gpu.scale_up_kind, gpu.architecture)).shape == "switch"
    rack = min(domain, cluster.hosts) if joined else min(leaf, HOSTS_PER_RACK)
    pod = min(network.hosts_behind("spine") or cluster.hosts, cluster.hosts)
    return {
        "switch": min(network.parts.hosts_of_one, cluster.hosts),
        "rack": rack,
        "pod": pod,
        "power": min(RACKS_PER_POWER_ROW * rack, cluster.hosts),
    }


def checkpoint_bytes(scenario: Scenario) -> Bytes:
    """Return the size of a save: as given, else weights, master weights and moments of the model."""
    if scenario.checkpoint.bytes is not None:
        return scenario.checkpoint.bytes
    if scenario.model is None:
        return 0.0
    return states.checkpoint(scenario.rank)


def _save_cost(scenario: Scenario, step_factor: StepFactor | None) -> SaveCost:
    """Return what a save costs on this machine."""
    size, host = checkpoint_bytes(scenario), scenario.cluster.host

    def slowed_by(share: Share) -> Number:
        """Return the factor on the step while a save takes a share of the NICs; a measured one is all traffic."""
        return step_factor((("host", 1 - share),)) if step_factor else 1 / (1 - share)

    return save_cost(
        scenario.checkpoint,
        size=size,
        write=scenario.cluster.storage.write,
        read=scenario.cluster.storage.read,
        copied=_copied(scenario, size),
        host_network=host.nics * host.nic_bandwidth,
        hosts=scenario.cluster.hosts,
        slowed_by=slowed_by,
    )


def _copied(scenario: Scenario, size: Bytes) -> Seconds:
    """Return the time until every GPU has copied what it saves of `size` bytes to its host.

    A size that the scenario gives is dealt out to all GPUs alike.
    """
    whole = scenario.stack.async_save == "state"
    nbytes, side = size / scenario.gpus, host_side(scenario)
    if whole and scenario.model is not None and scenario.checkpoint.bytes is None:
        nbytes = max(state_dictionary(scenario.rank, stage) for stage in scenario.replica.stages)
    return copy_time(nbytes, link=side.link, memory=side.memory, pageable=whole)


def run_result(scenario: Scenario, run: RunInput, outcomes: Sequence[Outcome], mfu: Share | None) -> RunResult:
    """Return what the runs say together; parts are means, and sum to the mean wall clock."""
    walls = [outcome.wall_clock for outcome in outcomes]
    wall, goodput = distribution(walls), distribution([outcome.goodput for outcome in outcomes])
    mean = {part: added(outcome.parts.get(part, 0.0) for outcome in outcomes) / len(outcomes) for part in PARTS}
    causes: dict[str, float] = {}
    for outcome in outcomes:
        for name, count in outcome.interruptions.items():
            causes[name] = causes.get(name, 0.0) + count / len(outcomes)
    saves = plan(run)
    tier = saves.tiers[0] if saves.tiers else None
    return RunResult(
        ideal_s=run.work,
        wall_clock_s=wall,
        goodput=goodput,
        luck=RunLuck(wall_clock_s=wall, goodput=goodput),
        goodput_definitions=definitions(mean, mfu),
        parts_s=mean,
        interruptions={
            "mean": added(causes.values()),
            "by_cause": dict(sorted(causes.items(), key=lambda item: -item[1])),
            "planned": added(outcome.planned for outcome in outcomes) / len(outcomes),
            "replaced": added(outcome.replaced for outcome in outcomes) / len(outcomes),
        },
        checkpoint={
            "interval_s": tier.interval if tier else None,
            "stall_s": tier.stall if tier else 0.0,
            "persist_s": tier.persist if tier else 0.0,
            "bytes": checkpoint_bytes(scenario) if tier else 0.0,
            **_advice(run, tier),
        },
        spares=_spares(run, outcomes),
        progress=all(outcome.progress for outcome in outcomes),
        samples=tuple(walls),
    )


def stretches(run: RunInput, outcomes: Sequence[Outcome]) -> tuple[Stretch, ...]:
    """Return of each run what grows with the time of a step: all but evaluations and stops that are announced.

    A run that was given up never ends.
    """
    announced = not isinstance(run.failures.planned, Planned)
    fixed = [
        outcome.parts.get("other", 0.0) + (outcome.parts.get("planned", 0.0) if announced else 0.0)
        for outcome in outcomes
    ]
    return tuple(
        Stretch(one.wall_clock - still, still) if one.progress else Stretch(inf)
        for one, still in zip(outcomes, fixed, strict=True)
    )


def _spares(run: RunInput, outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    """Return the share of time that the job waits for hosts, and the spares that suffice 99% of the time."""
    wall = added(outcome.wall_clock for outcome in outcomes)
    waiting = added(outcome.parts.get("wait", 0.0) for outcome in outcomes) / wall if wall else 0.0
    away = spares.load(run.failures, run.recovery, {**run.units, "job": 1}, run.hosts_of)
    return {"waiting_share": waiting, "needed_p99": spares.needed(away) if away else None}


def _advice(run: RunInput, tier: Tier | None) -> dict[str, float | None]:
    """Return the best interval in closed form, and what half and double of it lose."""
    if tier is None or not tier.stall or not isfinite(mtbf(run)):
        return {"best_interval_s": None, "loss_at_half": None, "loss_at_double": None}
    down = run.recovery.mean_down(run.units["gpu"], tier.load)
    found = interval_advice(tier.stall, mtbf(run), down, 0.0, tier.persist)
    return {
        "best_interval_s": found.best,
        "loss_at_half": found.loss_at_half,
        "loss_at_double": found.loss_at_double,
    }
