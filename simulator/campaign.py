"""From a step to the whole run: useful work, units that can fail, what a save costs; and what the outcomes say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf, isfinite

from simulator.cost import distribution
from simulator.engine.faults import StepFactor
from simulator.engine.outcome import PARTS, Outcome
from simulator.engine.run import RunInput, mtbf, plan
from simulator.reliability import spares
from simulator.reliability.advice import interval_advice
from simulator.reliability.checkpointing import cost as saving
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.tier import Tier
from simulator.reliability.fleet import Planned
from simulator.reliability.goodput import definitions
from simulator.results import RunResult
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.targets import Stretch
from simulator.units import Bytes, Number, Seconds, Share
from simulator.workload import states

HOSTS_PER_RACK = 4
"""Eight-GPU hosts of 10 kW in a rack, where the fabric does not say (DGX H100 SuperPOD)."""
RACKS_PER_POWER_ROW = 8


def run_input(scenario: Scenario, useful: Seconds, step: Seconds, step_factor: StepFactor | None = None) -> RunInput:
    """Return the run of `useful` seconds of work whose step takes `step`."""
    cluster, evaluation = scenario.cluster, scenario.training.evaluation
    hosts_of = _hosts_of(scenario)
    units = {
        "gpu": scenario.gpus,
        "host": cluster.hosts,
        "nic": cluster.hosts * cluster.host.nics,
        "link": cluster.hosts * cluster.host.nics,
        **{name: ceil(cluster.hosts / hosts) for name, hosts in hosts_of.items()},
    }
    return RunInput(
        work=useful,
        units=units,
        hosts_of=hosts_of,
        failures=scenario.failures,
        checkpoint=_checkpoint(scenario, step_factor),
        recovery=scenario.recovery,
        spares=cluster.spares,
        evaluate_every=evaluation.every * step if evaluation else float("inf"),
        evaluation=evaluation.time if evaluation else 0.0,
        step_factor=step_factor,
    )


def _hosts_of(scenario: Scenario) -> dict[str, int]:
    """Return the hosts behind one switch, rack, pod and power row."""
    cluster = scenario.cluster
    tiers = cluster.topology.tiers(cluster.hosts, cluster.host.nics)
    behind = {tier.name: tier.hosts for tier in tiers}
    leaf = min(behind.get("leaf", HOSTS_PER_RACK), cluster.hosts)
    rack = min(leaf, HOSTS_PER_RACK)
    pod = min(behind.get("spine", cluster.hosts), cluster.hosts)
    return {"switch": leaf, "rack": rack, "pod": pod, "power": min(RACKS_PER_POWER_ROW * rack, cluster.hosts)}


def checkpoint_bytes(scenario: Scenario) -> Bytes:
    """Return the size of a save: as given, else weights, master weights and moments of the model."""
    if scenario.checkpoint.bytes is not None:
        return scenario.checkpoint.bytes
    if scenario.model is None:
        return 0.0
    return states.checkpoint(scenario.model, scenario.stack, scenario.training)


def _checkpoint(scenario: Scenario, step_factor: StepFactor | None) -> CheckpointPolicy:
    size, host = checkpoint_bytes(scenario), scenario.cluster.host
    network = scenario.cluster.hosts * host.nics * host.nic_bandwidth
    policy = saving.resolve(
        scenario.checkpoint,
        size=size,
        size_per_gpu=size / scenario.gpus,
        write=scenario.cluster.storage.write,
        host_link=host.host_link or host.gpu.host_link,
        host_network=host.nics * host.nic_bandwidth or None,
        hosts=scenario.cluster.hosts,
    )
    if policy.load is None and policy.bytes:
        # A restart's time includes reading a save, unless the scenario gives storage that is slower than that.
        policy = replace(policy, load=0.0)
    if policy.fabric == "shared" and policy.mode == "async" and scenario.cluster.hosts > 1 and network:
        share = saving.of_the_nics(size, policy.persist or 0.0, network)
        policy = replace(policy, slowdown=saving.slowed(policy.slowdown, _beside_a_save(share, step_factor)))
    return policy


def _beside_a_save(share: Share, step_factor: StepFactor | None) -> Number:
    """Return the factor on the step while a save takes a share of the NICs; a measured step counts as all traffic."""
    if not share:
        return 1.0
    return step_factor((("host", 1 - share),)) if step_factor else 1 / (1 - share)


def run_result(scenario: Scenario, run: RunInput, outcomes: Sequence[Outcome], mfu: Share | None) -> RunResult:
    """Return what the runs say together; parts are means, and sum to the mean wall clock."""
    walls = [outcome.wall_clock for outcome in outcomes]
    mean = {part: added(outcome.parts.get(part, 0.0) for outcome in outcomes) / len(outcomes) for part in PARTS}
    causes: dict[str, float] = {}
    for outcome in outcomes:
        for name, count in outcome.interruptions.items():
            causes[name] = causes.get(name, 0.0) + count / len(outcomes)
    saves = plan(run)
    tier = saves.tiers[0] if saves.tiers else None
    return RunResult(
        ideal_s=run.work,
        wall_clock_s=distribution(walls),
        goodput=distribution([outcome.goodput for outcome in outcomes]),
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
    """Return of each run what grows with the time of a step: all but evaluations and stops that are announced."""
    if not all(outcome.progress for outcome in outcomes):
        return (Stretch(inf),)
    announced = not isinstance(run.failures.planned, Planned)
    fixed = [
        outcome.parts.get("other", 0.0) + (outcome.parts.get("planned", 0.0) if announced else 0.0)
        for outcome in outcomes
    ]
    return tuple(Stretch(one.wall_clock - still, still) for one, still in zip(outcomes, fixed, strict=True))


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
    down = run.recovery.detect.expected() + run.recovery.mean_restart(run.units["gpu"])
    found = interval_advice(tier.stall, mtbf(run), down, 0.0, tier.persist)
    return {
        "best_interval_s": found.best,
        "loss_at_half": found.loss_at_half,
        "loss_at_double": found.loss_at_double,
    }
