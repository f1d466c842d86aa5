"""How many rows each expert of the measured rank gets in a benchmark of expert layers.

Rules of ai-dynamo/aiconfigurator (`collector/`, for TensorRT-LLM): `balanced` deals tokens out in turn; `power_law_A`
draws a load for each expert from a power law of exponent A between 1 and 0.8 of the tokens (0.01 and 2 where there are
fewer rows than experts), scales them to the rows there are, and measures the rank with the most; `_eplb` first
replicates loaded experts into free slots and packs slots onto ranks so that these are even.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.errors import ScenarioError
from simulator.units import Count

LAW, REPLICATED = "power_law_", "_eplb"
MOST, FEW = 0.8, (0.01, 2.0)
"""Largest draw as a share of the tokens, and the range of draws where rows are fewer than experts."""
DRAWS = 5
"""Draws of which the one with the middle load of its fullest rank stands for all."""


@lru_cache(maxsize=65536)
def of_rank(
    distribution: str, tokens: Count, active: Count, experts: Count, ranks: Count, slots: Count
) -> tuple[float, ...]:
    """Return the rows of each expert, or slot, of the measured rank; raises ScenarioError for an unknown rule."""
    if distribution == "balanced":
        return _balanced(tokens, active, experts, ranks)
    exponent = distribution.removeprefix(LAW).removesuffix(REPLICATED)
    try:
        law = float(exponent)
    except ValueError:
        raise ScenarioError(f"distribution: found {distribution[:40]!r}, expected balanced or power_law_1.2") from None
    found = []
    for seed in range(DRAWS):
        loads = _drawn(law, tokens, active, experts, seed)
        if distribution.endswith(REPLICATED):
            found.append(_packed(_replicated(loads, slots), ranks))
        else:
            groups = loads.reshape(ranks, -1)
            found.append(groups[groups.sum(axis=1).argmax()])
    middle = sorted(found, key=lambda group: float(group.sum()))[DRAWS // 2]
    return tuple(middle.tolist())


def _balanced(tokens: Count, active: Count, experts: Count, ranks: Count) -> tuple[float, ...]:
    rows, local = tokens * active, experts // ranks
    if rows < experts:
        mine = max(1, round(rows / ranks)) if rows else 0
        return (1.0,) * min(mine, local) + (0.0,) * max(0, local - mine)
    return (rows / experts,) * local


def _drawn(law: float, tokens: Count, active: Count, experts: Count, seed: int) -> np.ndarray:
    """Return the loads of all experts of one draw: whole rows, none above the tokens."""
    low, high = (1.0, max(MOST * tokens, 1.0)) if tokens * active > experts else FEW
    uniform = np.random.default_rng(seed).uniform(size=experts)
    power = 1 - law
    loads = ((high**power - low**power) * uniform + low**power) ** (1 / power)
    rounded: np.ndarray = np.minimum(np.round(loads * (tokens * active / loads.sum())), tokens)
    return rounded


def _replicated(loads: np.ndarray, slots: Count) -> np.ndarray:
    """Return the loads of `slots`: each free one halves, thirds, ... the expert that has most a slot."""
    copies = np.ones(len(loads))
    for _ in range(slots - len(loads)):
        copies[(loads / copies).argmax()] += 1
    return np.repeat(loads / copies, copies.astype(int))


def _packed(loads: np.ndarray, ranks: Count) -> np.ndarray:
    """Return the fullest rank after slots went, largest first, to the rank with least that has room."""
    room = len(loads) // ranks
    groups: list[list[float]] = [[] for _ in range(ranks)]
    for load in sorted(loads.tolist(), reverse=True):
        min((group for group in groups if len(group) < room), key=sum).append(load)
    return np.array(max(groups, key=sum))
