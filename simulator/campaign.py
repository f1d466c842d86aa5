"""From a step to the whole run: useful work, units that can fail, what a save costs; and what the outcomes say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from simulator.cost import distribution
from simulator.engine.faults import StepFactor
from simulator.engine.outcome import PARTS, Outcome
from simulator.engine.run import RunInput, plan
from simulator.reliability.checkpointing import cost as saving
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.results import RunResult
from simulator.scenario.scenario import Scenario
from simulator.units import Bytes, Seconds
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
        checkpoint=_checkpoint(scenario),
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


def _checkpoint(scenario: Scenario) -> CheckpointPolicy:
    size, host = checkpoint_bytes(scenario), scenario.cluster.host
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
    return policy


def run_result(scenario: Scenario, run: RunInput, outcomes: Sequence[Outcome]) -> RunResult:
    """Return what the runs say together; parts are means, and sum to the mean wall clock."""
    walls = [outcome.wall_clock for outcome in outcomes]
    mean = {part: sum(outcome.parts.get(part, 0.0) for outcome in outcomes) / len(outcomes) for part in PARTS}
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
        goodput_definitions=_goodputs(outcomes),
        parts_s=mean,
        interruptions={
            "mean": sum(causes.values()),
            "by_cause": dict(sorted(causes.items(), key=lambda item: -item[1])),
            "planned": sum(outcome.planned for outcome in outcomes) / len(outcomes),
        },
        checkpoint={
            "interval_s": tier.interval if tier else None,
            "stall_s": tier.stall if tier else 0.0,
            "persist_s": tier.persist if tier else 0.0,
            "bytes": checkpoint_bytes(scenario) if tier else 0.0,
        },
        spares=_spares(outcomes),
        progress=all(outcome.progress for outcome in outcomes),
        samples=tuple(walls),
    )


def _goodputs(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the goodputs that people publish: Meta's effective training time ratio, Google's three."""
    wall = sum(outcome.wall_clock for outcome in outcomes)
    if not wall:
        return {}
    share = {part: sum(outcome.parts.get(part, 0.0) for outcome in outcomes) / wall for part in PARTS}
    away = share["detect"] + share["diagnose"] + share["restart"] + share["wait"] + share["planned"]
    running = 1 - away
    kept = share["train"] / running if running else 0.0
    return {
        "train_over_wall": share["train"],
        "meta_ettr": share["train"] + share["other"],
        "google_scheduling": 1 - share["wait"],
        "google_runtime": running / (1 - share["wait"]) if share["wait"] < 1 else 0.0,
        "google_program": kept,
    }


def _spares(outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    """Return the share of time that the job waits for hosts, and the spares that suffice 99% of the time."""
    wall = sum(outcome.wall_clock for outcome in outcomes)
    away: dict[int, float] = {}
    for outcome in outcomes:
        for count, seconds in outcome.hosts_out.items():
            away[count] = away.get(count, 0.0) + seconds
    waiting = sum(outcome.parts.get("wait", 0.0) for outcome in outcomes) / wall if wall else 0.0
    total, seen, needed = sum(away.values()), 0.0, None
    for count in sorted(away):
        seen += away[count]
        if seen >= 0.99 * total:
            needed = count
            break
    return {"waiting_share": waiting, "needed_p99": needed}
