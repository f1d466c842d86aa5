"""What a fabric has and what it can carry, read off its graph, whole or folded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from topologies.base import ENDS

if TYPE_CHECKING:
    import networkx as nx


def switches(graph: nx.Graph) -> dict[str, int]:
    """Return how many switches of each kind there are."""
    found: Counter[str] = Counter()
    for node, copies in graph.nodes(data="copies", default=1):
        if node[0] not in ENDS:
            found[node[0]] += copies
    return dict(found)


def cables(graph: nx.Graph) -> dict[str, int]:
    """Return how many cables of each tier there are."""
    found: Counter[str] = Counter()
    for _, _, edge in graph.edges(data=True):
        found[edge["tier"]] += edge["count"]
    return dict(found)


def edge_switches(graph: nx.Graph) -> tuple[int, int]:
    """Return how many switches have hosts hanging on them (leaves, routers, NVSwitches), and the most hosts of one."""
    found = most = 0
    for node, copies in graph.nodes(data="copies", default=1):
        if node[0] not in ENDS and (hosts := {other[1] for other in graph[node] if other[0] in ENDS}):
            found, most = found + copies, max(most, len(hosts))
    return found, most


def bisection(graph: nx.Graph) -> float:
    """Return what the first half of the hosts can send to the second, on whatever routes: the maximum flow.

    L. Ford and D. Fulkerson, "Maximal flow through a network", 1956. NICs count, so that it is at most what half of the
    hosts can send, and no closed form of full leaves and pods: a half may end inside of one.
    """
    import networkx as nx

    hosts = 1 + max(node[1] for node in graph if node[0] in ENDS)
    flow = nx.Graph(graph.edges(data=True))
    for node in graph:
        if node[0] in ENDS:
            flow.add_edge(node, "first" if node[1] < hosts // 2 else "second")
    return float(nx.maximum_flow_value(flow, "first", "second", capacity="bandwidth"))
