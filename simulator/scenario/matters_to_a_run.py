"""When the keys of storage, jitter, targets, prices, failures, checkpoints and recovery matter."""

from __future__ import annotations

from collections.abc import Callable

from simulator.reliability.fleet import Planned
from simulator.scenario.here import Here
from simulator.scenario.matters import Line
from simulator.scenario.written import Written


def _own(name: str) -> Callable[[Here, Written], bool]:
    """Return whether what holds the key has another one."""
    return lambda here, key: bool(getattr(key.holder, name, None))


LINES = (
    Line("cluster.storage.*", lambda h, k: h.usual_storage or (h.saves and not h.tiered),
         "no save goes to storage", "it needs a `checkpoint` that saves, without `tiers`"),
    Line("cluster.storage.read", lambda h, k: h.usual_storage or (h.interrupted and h.checkpoint.load is None),
         "no save is read back, or `checkpoint.load` says how long that takes",
         "it needs `failures` and no `checkpoint.load`"),
    Line("cluster.storage.write", lambda h, k: h.usual_storage or h.said_of_a_save is None,
         "`checkpoint` says how long a save takes", "leave its `stall` (or `persist`, where it is async) out"),
    Line("jitter.slow", lambda h, k: h.scenario.jitter.slow_hosts > 0,
         "no hosts are slow", "it needs `jitter.slow_hosts`"),
    Line("jitter.gpu jitter.step", lambda h, k: h.scenario.gpus > 1,
         "one GPU waits for nobody", "it needs more than one GPU"),
    Line("targets.risk", lambda h, k: h.scenario.targets.deadline is not None or h.scenario.targets.budget is not None,
         "there is no target", "it needs `targets.deadline` or `targets.budget`"),
    Line("prices.terms", lambda h, k: "prices.gpu_hour" not in h.keys,
         "`prices.gpu_hour` is the price on any terms", "leave that out"),
    Line("failures.scale", lambda h, k: bool(h.failures.causes),
         "nothing fails", "it needs `failures.causes` or a `preset`"),
    Line("failures.exposure", lambda h, k: bool(h.failures.causes) or isinstance(h.failures.planned, Planned),
         "nothing fails", "it needs `failures.causes` or a `preset`"),
    Line("failures.size", lambda h, k: h.failures.preset is not None or h.failures.size_exponent > 0,
         "rates grow in proportion to the units", "it needs `failures.size_exponent`"),
    Line("failures.size_exponent",
         lambda h, k: h.failures.size is not None and any(c.unit != "job" for c in h.failures.causes),
         "nothing says at which size the rates hold",
         "it needs `failures.size` and causes of other units than the job"),
    Line("failures.uptime", lambda h, k: h.failures.preset is not None and h.failures.exposure == "uptime",
         "causes say their own rates", "it needs a `preset` and `exposure: uptime`"),
    Line("failures.lemons.* failures.evict_after failures.repeat", lambda h, k: h.strikes_hosts,
         "no cause strikes a single host", "it needs a cause of unit gpu, nic or host"),
    Line("failures.repeat_within", lambda h, k: h.failures.repeat > 0 or h.recovery.misdiagnosed > 0,
         "no failure repeats", "it needs `failures.repeat` or `recovery.misdiagnosed`"),
    Line("failures.causes.slow", lambda h, k: k.holder.effect in ("slow", "degrade"),
         "the cause has another effect", "it needs `effect: slow`"),
    Line("failures.causes.bandwidth", lambda h, k: k.holder.effect == "degrade",
         "the cause has another effect", "it needs `effect: degrade`"),
    Line("failures.causes.lasts", lambda h, k: k.holder.is_episode,
         "the cause has another effect", "it needs `effect: slow`, `degrade` or `flap`"),
    Line("failures.causes.timeout", lambda h, k: k.holder.effect == "flap",
         "the cause has another effect", "it needs `effect: flap`"),
    Line("failures.causes.age", lambda h, k: k.holder.kind not in ("exponential", "eviction"),
         "a life without memory has no age", "it needs kind `weibull` or `lognormal`"),
    Line("checkpoint.*", lambda h, k: h.saves,
         "nothing is saved", "it needs another `checkpoint.kind`"),
    Line("checkpoint.stall checkpoint.persist checkpoint.load checkpoint.interval checkpoint.guess "
         "checkpoint.slowdown checkpoint.fabric checkpoint.mode", lambda h, k: not h.tiered,
         "`tiers` say it", "leave `tiers` out"),
    Line("checkpoint.persist checkpoint.slowdown checkpoint.fabric", lambda h, k: h.asynchronous,
         "a blocking save is there when it ends", "it needs `checkpoint.mode: async`"),
    Line("checkpoint.fabric", lambda h, k: h.several_hosts,
         "one host shares no network", "it needs more than one host"),
    Line("checkpoint.keep", lambda h, k: any(c.effect == "corrupt" for c in h.failures.causes),
         "the last save is always good", "it needs a cause of effect corrupt"),
    Line("checkpoint.load checkpoint.tiers.load checkpoint.tiers.survives checkpoint.tiers.peers",
         lambda h, k: h.interrupted,
         "no save is read back", "it needs `failures` that stop the job"),
    Line("checkpoint.tiers.peers", lambda h, k: isinstance(k.holder.survives, str),
         "`survives` is a share of failures", "it needs `survives: process`, `host` or `rack`"),
    Line("recovery.detect recovery.missed recovery.timeout recovery.diagnose recovery.in_place recovery.standby "
         "recovery.misdiagnosed recovery.technicians recovery.repair recovery.stall recovery.replace recovery.rejoin",
         lambda h, k: h.interrupted or h.takes_hosts,
         "nothing fails", "it needs `failures` that stop the job"),
    Line("recovery.timeout", lambda h, k: h.recovery.missed > 0,
         "no failure is missed", "it needs `recovery.missed`"),
    Line("recovery.restart", lambda h, k: not h.recovery.phases,
         "`phases` are the restart", "leave `phases` out"),
    Line("recovery.phases.size", _own("exponent"),
         "the phase takes as long at any size", "it needs its `exponent`"),
    Line("recovery.phases.exponent", _own("size"),
         "nothing says at which size its time holds", "it needs its `size`"),
)  # fmt: skip
