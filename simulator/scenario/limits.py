"""How small and how large the numbers of a scenario may be.

Zero hosts or a fabric without bandwidth describe nothing; a quintillion hosts is a slip of the finger, and what
is simulated takes memory and time for each different thing. The upper bounds are far beyond any machine there is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from simulator.scenario.document import Keys
from simulator.scenario.leaves import leaves
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.shape import Shape

TINY = 1e-30
HUGE = 1e30
ONE_OR_MORE = (1.0, 1e15)
MORE_THAN_NOTHING = (TINY, HUGE)
LIMITS: dict[str, tuple[float, float]] = {
    "version": (1, 1),
    "runs": (1, 100_000),
    "seed": (0, 2**63),
    "cluster.hosts": (1, 1_000_000),
    "cluster.spares": (0, 1_000_000),
    "cluster.host.gpus": (1, 1024),
    "cluster.host.nics": (0, 1024),
    "cluster.host.scale_up.domain": (1, 100_000),
    "cluster.host.gpu.memory": MORE_THAN_NOTHING,
    "cluster.host.gpu.memory_bandwidth": MORE_THAN_NOTHING,
    "cluster.host.gpu.peak.*": MORE_THAN_NOTHING,
    "cluster.host.gpu.sms": (1, 100_000),
    "cluster.storage.*": MORE_THAN_NOTHING,
    "cluster.topology.*": (TINY, 1e15),
    "cluster.topology.oversubscription.*": MORE_THAN_NOTHING,
    "cluster.topology.link_latency": (0, HUGE),
    "cluster.faults.slow": (1, 1e6),
    "model.layers": (1, 10_000),
    "model.hidden": (1, 10_000_000),
    "model.heads": (1, 100_000),
    "model.kv_heads": (0, 100_000),
    "model.head_size": (1, 100_000),
    "model.ffn": (1, 100_000_000),
    "model.attention.*": (0, 100_000_000),
    "model.vocabulary": (1, 1_000_000_000),
    "model.attention.window": ONE_OR_MORE,
    "model.mtp": (0, 100),
    "model.experts.count": (1, 1_000_000),
    "model.experts.active": ONE_OR_MORE,
    "model.experts.ffn": ONE_OR_MORE,
    "model.experts.every": ONE_OR_MORE,
    "stack.gemm_factor": MORE_THAN_NOTHING,
    "parallelism.*": ONE_OR_MORE,
    "parallelism.split.*": (0, 10_000),
    "parallelism.context.size": ONE_OR_MORE,
    "parallelism.shard.replicas": ONE_OR_MORE,
    "parallelism.schedule.chunks": (1, 10_000),
    "parallelism.schedule.*": ONE_OR_MORE,
    "training.tokens": ONE_OR_MORE,
    "training.steps": ONE_OR_MORE,
    "training.duration": MORE_THAN_NOTHING,
    "training.sequence_length": (1, 1_000_000_000),
    "training.global_batch": (1, 1_000_000_000),
    "training.microbatch": (1, 1_000_000),
    "training.step_time": MORE_THAN_NOTHING,
    "training.phases.*": ONE_OR_MORE,
    "training.evaluation.every": ONE_OR_MORE,
    "training.recompute.layers": (0, 10_000),
    "moe.imbalance": (1, 1e6),
    "moe.capacity": MORE_THAN_NOTHING,
    "jitter.slow": (1, 1e6),
    "failures.causes.mtbf": MORE_THAN_NOTHING,
    "failures.causes.every": MORE_THAN_NOTHING,
    "failures.causes.slow": (1, 1e6),
    "failures.size": ONE_OR_MORE,
    "failures.uptime": MORE_THAN_NOTHING,
    "failures.planned.every": MORE_THAN_NOTHING,
    "checkpoint.interval": MORE_THAN_NOTHING,
    "checkpoint.guess": MORE_THAN_NOTHING,
    "checkpoint.tiers.interval": MORE_THAN_NOTHING,
    "checkpoint.tiers.peers": ONE_OR_MORE,
    "checkpoint.keep": ONE_OR_MORE,
    "recovery.fails": (0, 0.99),
    "recovery.technicians": (1, 1_000_000),
    "recovery.replicas": ONE_OR_MORE,
    "recovery.minimum": ONE_OR_MORE,
    "prices.pue": (1, 100),
}
"""The least and the most of each key; ``*`` stands for a last part that has no line of its own."""
ANYWHERE: dict[str, tuple[float, float]] = {"shape": (0.05, 20)}
"""The same of a key wherever it stands; of Weibull and lognormal times beyond these, mean and median are many powers of
ten apart, or the same."""
MOST_TASKS = 400_000
"""Microbatches of a step times the chunks that each passes; a second of simulation for every ten thousand."""
MOST_CHUNKS = 100_000


def check(wanted: Shape, value: Any, path: Keys, mistakes: Mistakes) -> None:
    """Note every number of `value`, the object at `path`, that is beyond its limits."""
    for keys, number in leaves(wanted, value, path):
        least, most = _limits(keys)
        if number < least:
            least_text = f"at least {least:,.15g}" if least > TINY else "more than zero"
            mistakes.add(keys, f"{number:,.15g} is too little; write {least_text}")
        elif number > most:
            mistakes.add(keys, f"{number:,.15g} is too much; {most:,.15g} is the most{_what(keys)}")


def _what(keys: Keys) -> str:
    return " that this program reads" if keys == ("version",) else " that can be simulated"


@lru_cache(maxsize=4096)
def _limits(keys: Keys) -> tuple[float, float]:
    names = [key for key in keys if isinstance(key, str)]
    if isinstance(keys[-1], int):
        names.append("*")
    exact = LIMITS.get(".".join(names))
    return exact or LIMITS.get(".".join([*names[:-1], "*"])) or ANYWHERE.get(names[-1]) or (0.0, HUGE)
