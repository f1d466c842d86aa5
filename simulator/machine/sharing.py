"""How flows share links: max-min fairness by progressive filling.

All rates rise together until a link is full; its flows keep their rate, the others rise on, until all are
settled (D. Bertsekas and R. Gallager, "Data Networks", 1992, section 6.5.2). Identical flows are folded: one
entry with a count stands for all of them, so that cost grows with the number of different flows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

Link = Hashable


def max_min(
    flows: Sequence[Iterable[Link] | Mapping[Link, float]],
    capacities: Mapping[Link, float],
    *,
    weights: Sequence[float] | None = None,
    counts: Sequence[float] | None = None,
) -> list[float]:
    """Return the rate of each flow.

    A flow names the links that it crosses, or maps each to the share of its rate that crosses it. Rates rise in
    proportion to `weights`; `counts` says for how many identical flows each entry stands. A flow that crosses
    nothing has no limit.

    >>> max_min(["a", "ab", "b"], {"a": 1.0, "b": 4.0})
    [0.5, 0.5, 3.5]
    """
    uses = [dict(flow) if isinstance(flow, Mapping) else dict.fromkeys(flow, 1.0) for flow in flows]
    weight = [1.0] * len(uses) if weights is None else list(weights)
    count = [1.0] * len(uses) if counts is None else list(counts)
    rates = [math.inf] * len(uses)
    users: dict[Link, list[int]] = {}
    demand: dict[Link, float] = {}
    for number, use in enumerate(uses):
        for link, share in use.items():
            users.setdefault(link, []).append(number)
            demand[link] = demand.get(link, 0.0) + share * weight[number] * count[number]
    free = {link: float(capacities[link]) for link in users}
    open_links = {link: len(numbers) for link, numbers in users.items()}
    level = 0.0
    settled = [not use for use in uses]
    while open_links:
        step = {link: free[link] / demand[link] if demand[link] > 0 else math.inf for link in open_links}
        rise = min(step.values())
        if rise == math.inf:
            break
        level = max(level, rise)
        for link in [link for link, height in step.items() if height <= rise * (1 + 1e-12)]:
            for number in users[link]:
                if settled[number]:
                    continue
                settled[number] = True
                rates[number] = level * weight[number]
                for crossed, share in uses[number].items():
                    free[crossed] = max(0.0, free[crossed] - share * count[number] * rates[number])
                    demand[crossed] -= share * weight[number] * count[number]
                    if crossed in open_links:
                        open_links[crossed] -= 1
        open_links = {link: left for link, left in open_links.items() if left > 0}
    return rates
