"""How small and how large the numbers of a scenario may be.

Zero hosts or a fabric without bandwidth describe nothing; a quintillion hosts is a slip of the finger, and what
is simulated takes memory and time for each different thing. The upper bounds are far beyond any machine there is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from simulator.scenario.document import Keys
from simulator.scenario.leaves import parts
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.shape import Quantity, Shape

TINY = 1e-30
HUGE = 1e30
MORE_THAN_NOTHING = (TINY, HUGE)
HOSTS = (1, 1_000_000)
RANKS = (1, 1_024_000_000)
"""GPUs of as many hosts."""
WIDTH = (1, 100_000_000)
LAYERS = (1, 10_000)
BATCH = (1, 1_000_000_000)
TOKENS = (1, 1e15)
LIMITS: dict[str, tuple[float, float]] = {
    "version": (1, 1),
    "runs": (1, 100_000),
    "seed": (0, 2**63),
    "cluster.hosts": HOSTS,
    "cluster.spares": (0, 1_000_000),
    "cluster.host.gpus": (1, 1024),
    "cluster.host.nics": (0, 1024),
    "cluster.host.scale_up.domain": (1, 100_000),
    "cluster.host.gpu.memory": MORE_THAN_NOTHING,
    "cluster.host.gpu.memory_bandwidth": MORE_THAN_NOTHING,
    "cluster.host.gpu.peak.*": MORE_THAN_NOTHING,
    "cluster.host.gpu.best_matmul.*": MORE_THAN_NOTHING,
    "cluster.host.gpu.scale_up_pair": MORE_THAN_NOTHING,
    "cluster.host.gpu.host_link": MORE_THAN_NOTHING,
    "cluster.host.host_link": MORE_THAN_NOTHING,
    "cluster.host.memory_bandwidth": MORE_THAN_NOTHING,
    "cluster.host.gpu.sms": (1, 100_000),
    "cluster.storage.*": MORE_THAN_NOTHING,
    "cluster.topology.*": (TINY, 1e15),
    "cluster.topology.oversubscription.*": MORE_THAN_NOTHING,
    "cluster.topology.link_latency": (0, HUGE),
    "cluster.topology.queue_pairs": (1, 100_000),
    "cluster.topology.levels": (1, 3),
    "cluster.topology.radix": (1, 1_000_000),
    "cluster.topology.spines": (1, 1_000_000),
    "cluster.topology.planes": (1, 1000),
    "cluster.topology.switches": (1, 1_000_000),
    "cluster.topology.hosts_per_leaf": HOSTS,
    "cluster.topology.hosts_per_pod": HOSTS,
    "cluster.topology.hosts_per_unit": HOSTS,
    "cluster.topology.hosts_per_router": HOSTS,
    "cluster.topology.routers_per_group": HOSTS,
    "cluster.topology.global_links": (1, 1_000_000),
    "cluster.topology.dimensions.*": HOSTS,
    "cluster.placement.hosts.*": (0, 999_999),
    "cluster.faults.leaf": (0, 1_000_000_000),
    "cluster.faults.spine": (0, 1_000_000_000),
    "cluster.faults.host": (0, 999_999),
    "cluster.faults.slow": (1, 1e6),
    "model.layers": LAYERS,
    "model.hidden": (1, 10_000_000),
    "model.heads": (1, 100_000),
    "model.kv_heads": (0, 100_000),
    "model.head_size": (1, 100_000),
    "model.ffn": WIDTH,
    "model.attention.*": (0, 100_000_000),
    "model.attention.window": TOKENS,
    "model.vocabulary": (1, 1_000_000_000),
    "model.max_positions": (0, 1_000_000_000),
    "model.mtp": (0, 100),
    "model.experts.count": (1, 1_000_000),
    "model.experts.active": (1, 1_000_000),
    "model.experts.shared": (0, 1_000_000),
    "model.experts.groups": (1, 10_000),
    "model.experts.active_groups": (1, 10_000),
    "model.experts.ffn": WIDTH,
    "model.experts.every": LAYERS,
    "model.experts.dense_layers": (0, 10_000),
    "stack.year": (0, 9999),
    "stack.prefetch": (0, 10_000),
    "stack.train_metrics": (0, 1_000_000),
    "stack.gemm_factor": MORE_THAN_NOTHING,
    "stack.host_optimizer": MORE_THAN_NOTHING,
    "stack.loss_chunks": (1, 1_000_000),
    "stack.loss_chunk_tokens": (1, 1_000_000_000),
    "stack.mlp_tile": (1, 1_000_000_000),
    "targets.risk": (0, 1),
    "parallelism.*": RANKS,
    "parallelism.split.*": (0, 10_000),
    "parallelism.context.size": RANKS,
    "parallelism.context.ulysses": RANKS,
    "parallelism.shard.replicas": RANKS,
    "parallelism.schedule.chunks": LAYERS,
    "parallelism.schedule.group": LAYERS,
    "training.tokens": TOKENS,
    "training.steps": TOKENS,
    "training.duration": MORE_THAN_NOTHING,
    "training.sequence_length": (1, 1_000_000_000),
    "training.global_batch": BATCH,
    "training.microbatch": (1, 1_000_000),
    "training.data.lengths.tokens": (1, 1_000_000_000),
    "training.data.lengths.mean": (1, 1_000_000_000),
    "training.data.lengths.p90": (1, 1_000_000_000),
    "training.data.lengths.max": (1, 1_000_000_000),
    "training.precision.skipped_steps": (0, 0.99),
    "training.step_time": MORE_THAN_NOTHING,
    "training.phases.tokens": TOKENS,
    "training.phases.global_batch": BATCH,
    "training.phases.sequence_length": (1, 1_000_000_000),
    "training.evaluation.every": TOKENS,
    "training.recompute.layers": (0, 10_000),
    "training.method.rank": (1, 1_000_000),
    "moe.imbalance": (1, 1e6),
    "moe.capacity": MORE_THAN_NOTHING,
    "jitter.slow": (1, 1e6),
    "failures.causes.mtbf": MORE_THAN_NOTHING,
    "failures.causes.every": MORE_THAN_NOTHING,
    "failures.causes.hosts": (0, 1_000_000),
    "failures.causes.slow": (1, 1e6),
    "failures.evict_after": (0, 1_000_000),
    "failures.size": RANKS,
    "failures.uptime": MORE_THAN_NOTHING,
    "failures.planned.every": MORE_THAN_NOTHING,
    "checkpoint.interval": MORE_THAN_NOTHING,
    "checkpoint.guess": MORE_THAN_NOTHING,
    "checkpoint.keep": (1, 1_000_000),
    "checkpoint.tiers.interval": MORE_THAN_NOTHING,
    "checkpoint.tiers.peers": HOSTS,
    "recovery.fails": (0, 0.99),
    "recovery.phases.size": (0, 1_024_000_000),
    "recovery.technicians": (1, 1_000_000),
    "recovery.replicas": RANKS,
    "recovery.minimum": RANKS,
    "prices.pue": (1, 100),
    "search.tensor.*": RANKS,
    "search.pipeline.*": RANKS,
    "search.context.*": RANKS,
    "search.expert.*": RANKS,
    "search.expert_tensor.*": RANKS,
    "search.chunks.*": LAYERS,
    "search.microbatch.*": (1, 1_000_000),
}
"""The least and the most of each key; ``*`` stands for a last part that has no line of its own."""
ANYWHERE: dict[str, tuple[float, float]] = {"shape": (0.05, 20)}
"""The same of a key wherever it stands; of Weibull and lognormal times beyond these, mean and median are many powers of
ten apart, or the same."""
ANY = (0.0, HUGE)
"""The same of a key without a line."""
NOTHING_GROWS: dict[str, str] = {
    "B": "sizes of what is kept or sent are only added up and divided",
    "B/s": "rates divide sizes",
    "FLOP/s": "rates divide work",
    "W": "power is multiplied by time",
    "$": "money is compared",
    "$/h": "prices are multiplied by time",
    "$/kWh": "prices are multiplied by energy",
    "kg/kWh": "the same of carbon",
    "share": "a part of a whole, between 0 and 1",
    "number": "factors and exponents; what they do to rates of failures, `engine/budget.py` counts",
    "s": "times are added up and compared; what happens too often in a run, `engine/budget.py` counts",
}
"""Units in which a key may do without a line: neither time nor memory of this program grows with its numbers. All that
grows are counts."""
LONGEST = 1000
"""Entries of a list or a mapping without a line in `LENGTHS`."""
LENGTHS: dict[str, int] = {
    "cluster.placement.hosts": 1_000_000,
    "cluster.faults": 10_000,
    "parallelism.split": 100_000,
    "training.phases": 200,
    "failures.causes.at": 100_000,
    "failures.planned": 100_000,
}
"""The most entries of lists that may well be long."""
MOST_TASKS = 400_000
"""Microbatches of a step times the chunks that each passes; a second of simulation for every ten thousand."""
MOST_CHUNKS = 100_000


def check(wanted: Shape, value: Any, path: Keys, mistakes: Mistakes) -> None:
    """Note every number of `value`, the object at `path`, beyond its limits, and every list that is too long."""
    for keys, shape, part in parts(wanted, value, path):
        if isinstance(shape, Quantity):
            _check_number(keys, part, mistakes)
        elif len(part) > (most := LENGTHS.get(_name(keys), LONGEST)):
            mistakes.add(keys, f"{len(part):,} entries are too many; {most:,} is the most{_what(keys)}")


def _check_number(keys: Keys, number: float, mistakes: Mistakes) -> None:
    least, most = limits(keys)
    if number < least:
        least_text = f"at least {least:,.15g}" if least > TINY else "more than zero"
        mistakes.add(keys, f"{number:,.15g} is too little; write {least_text}")
    elif number > most:
        mistakes.add(keys, f"{number:,.15g} is too much; {most:,.15g} is the most{_what(keys)}")


def _what(keys: Keys) -> str:
    return " that this program reads" if keys == ("version",) else " that can be simulated"


def limits(keys: Keys) -> tuple[float, float]:
    """Return the least and the most of the number at `keys`."""
    return _limits(_name(keys))


@lru_cache(maxsize=4096)
def _limits(name: str) -> tuple[float, float]:
    above, _, last = name.rpartition(".")
    return LIMITS.get(name) or LIMITS.get(f"{above}.*") or ANYWHERE.get(last) or ANY


def _name(keys: Keys) -> str:
    """Return how the tables call `keys`: without the places in lists; a number of a list is ``*``."""
    return ".".join([*(key for key in keys if isinstance(key, str)), *(["*"] if isinstance(keys[-1], int) else [])])
