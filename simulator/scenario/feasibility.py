"""What the parts of a run must have: an amount of work, repair for waiting hosts, arithmetic that the GPU has."""

from __future__ import annotations

from functools import partial
from typing import Any

from simulator.errors import ForetrainError
from simulator.machine.collectives.choose import algorithms
from simulator.machine.domains import hosts_per_domain
from simulator.machine.fault import PLACES
from simulator.machine.network import fitted, wired
from simulator.reliability.failures.base import Cause
from simulator.reliability.failures.trace import Trace
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.stragglers.ignore import Ignore
from simulator.scenario.cluster import Cluster
from simulator.scenario.mistakes import Mistakes, did_you_mean, listed
from simulator.workload.training import Training

MOST_WIRED = 4096
"""Hosts up to which a fabric is built to read a scenario; what is wrong with a larger one is said when it runs."""
ARITHMETIC = {"mxfp8": "fp8", "nvfp4": "fp4"}
"""The peak that a precision uses where the GPU has no figure of its own."""


def check_amount(training: Training, mistakes: Mistakes) -> None:
    """Note a run whose length is given twice, or not at all."""
    given = [key for key in ("tokens", "steps", "duration") if getattr(training, key) is not None]
    if len(given) != 1:
        found = f"{listed(given)} are given" if given else "none is given"
        mistakes.add(("training",), f"exactly one of tokens, steps and duration says how long the run is; {found}")
    ramp = sum(phase.tokens for phase in training.phases)
    if training.tokens is not None and ramp > training.tokens:
        mistakes.add(
            ("training", "phases"), f"phases of {ramp:,} tokens are longer than the run of {training.tokens:,}"
        )


def check_precision(training: Training, cluster: Cluster, mistakes: Mistakes) -> None:
    """Note a precision in which the GPU cannot multiply."""
    kind, gpu = training.precision.kind, cluster.host.gpu
    if kind not in gpu.peak and ARITHMETIC.get(kind) not in gpu.peak:
        mistakes.add(
            ("training", "precision"), f"{gpu.name} has no {kind} arithmetic; it has {', '.join(gpu.peak) or 'none'}"
        )


def check_spares(cluster: Cluster, failures: Failures, recovery: Recovery, mistakes: Mistakes) -> None:
    """Note spares without a repair time: nobody could say when they are there again."""
    if cluster.spares is None or recovery.repair is not None or failures.scale == 0:
        return
    lasting = [cause for cause in failures.causes if cause.effect != "flap"]
    waiting = [cause.label for cause in lasting if takes_hosts(cause) and cause.repair is None]
    if not isinstance(getattr(recovery, "slow_hosts", Ignore()), Ignore):
        waiting += [cause.label for cause in lasting if cause.effect == "slow" and cause.on_host]
    if waiting:
        names = waiting if len(waiting) < 4 else [*waiting[:2], f"{len(waiting) - 2} more causes"]
        mistakes.add(
            ("cluster", "spares"),
            f"{cluster.spares} spares, and {listed(names)} can take a host away, but nothing says when it is repaired; "
            f"give recovery.repair, such as `24h`, or leave spares out",
        )


def takes_hosts(cause: Cause) -> bool:
    """Return whether an event of `cause` takes a host away."""
    hosts = cause.hosts if cause.hosts is not None else int(cause.unit not in ("link", "job"))
    return cause.interrupts and hosts > 0 and cause.drains > 0 and not cause.needs_no_repair(None)


def check_causes(failures: Failures, mistakes: Mistakes) -> None:
    """Note logs that cannot be read, and episodes without a length; a log has its own."""
    for cause in failures.causes:
        if cause.is_episode and cause.lasts is None and not isinstance(cause, Trace):
            mistakes.add(
                ("failures", "causes"),
                f"`lasts` of {cause.label} is missing; a cause of effect {cause.effect} is an episode with a length",
            )
        if isinstance(cause, Trace):
            _try(partial(cause.rate, 1), ("failures", "causes"), mistakes)


def check_fabric(cluster: Cluster, mistakes: Mistakes) -> None:
    """Note a fabric that cannot be built for these hosts, and faults or places that it does not have."""
    host = cluster.host
    apart = not cluster.topology.scale_up and hosts_per_domain(host, cluster.hosts) < cluster.hosts
    if apart and not host.nics:
        mistakes.add(
            ("cluster", "host"),
            f"{cluster.hosts:,} hosts without NICs; give `nics` and `nic_bandwidth`, or one `scale_up.domain`",
        )
    elif apart and not (host.nic_bandwidth or cluster.topology.link_bandwidth or not host.nics):
        mistakes.add(("cluster", "host"), "`nic_bandwidth` is missing, such as `400Gbps`")
    if cluster.placement.hosts:
        _try(lambda: cluster.placement.order(cluster.hosts), ("cluster", "placement"), mistakes)
    topology, nics = fitted(cluster.topology, host)
    hosts = cluster.placement.fabric_hosts(cluster.hosts)
    if hosts <= MOST_WIRED:
        _try(
            lambda: wired(topology, hosts, max(nics, 1)),
            ("cluster", "topology"),
            mistakes,
            getattr(cluster.topology, "file", ""),
        )
    for index, fault in enumerate(cluster.faults):
        places = [name for name in PLACES if getattr(fault, name) is not None]
        if len(places) != 1:
            found = f"{listed(places)} are given" if places else "none is given"
            mistakes.add(
                ("cluster", "faults", index),
                f"a fault has one place, {', '.join(PLACES[:-1])} or {PLACES[-1]}; {found}",
            )


def check_collectives(cluster: Cluster, mistakes: Mistakes) -> None:
    """Note an algorithm that does not exist."""
    known = ["auto", *algorithms()]
    if cluster.collectives not in known:
        mistakes.add(
            ("cluster", "collectives"),
            f"unknown value `{cluster.collectives[:40]}`; {did_you_mean(cluster.collectives, known)}",
        )


def _try(build: Any, path: tuple[str, ...], mistakes: Mistakes, file: str = "") -> None:
    """Note what is wrong with what `build` makes, and the file that says so."""
    try:
        build()
    except (ValueError, ForetrainError) as error:
        mistakes.add(path, f"{file}: {error}" if file else str(error))
    except (ArithmeticError, LookupError):
        mistakes.add(path, "these numbers make no network; see `foretrain schema` for what each of them counts")


def check_elastic(recovery: Recovery, data: int, mistakes: Mistakes) -> None:
    """Note replicas that an elastic run cannot have."""
    replicas = getattr(recovery, "replicas", None)
    if replicas is not None and data % replicas:
        mistakes.add(("recovery", "replicas"), f"{replicas:,} replicas do not divide the data axis of {data:,}")
