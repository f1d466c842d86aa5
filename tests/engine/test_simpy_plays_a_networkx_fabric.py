"""Who does the work in a scenario of several hosts: simpy plays step and run, on ways that networkx finds."""

from __future__ import annotations

import networkx as nx
import pytest
import simpy

from simulator.engine.prices.assembly import assembly, network_of
from simulator.engine.step import simulated
from simulator.machine.network import wired
from simulator.scenario import from_dict
from simulator.simulation import predict, simulate

DOCUMENT = {
    "model": {"layers": 4, "hidden": 1024, "heads": 16, "ffn": 4096, "vocabulary": 50_000,
              "experts": {"count": 8, "active": 2, "ffn": 1024}},
    "cluster": {
        "host": "hgx-h100",
        "hosts": 8,
        "topology": {"kind": "fat-tree", "levels": 2, "hosts_per_leaf": 2, "radix": 32},
    },
    "parallelism": {"tensor": 2, "context": 2, "expert": 4, "pipeline": 2, "shard": "gradients",
                    "order": "tp-cp-ep-dp-pp"},
    "training": {"steps": 1000, "sequence_length": 4096, "global_batch": 64},
    "failures": {"causes": [{"unit": "host", "mtbf": "5h"}]},
    "runs": 2,
}  # fmt: skip


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[None]:
    """Return a list that grows with each call of a method."""
    calls: list[None] = []
    method = getattr(owner, name)

    def call(*arguments, **named):
        calls.append(None)
        return method(*arguments, **named)

    monkeypatch.setattr(owner, name, call)
    return calls


def test_simpy_plays_every_task_of_a_step_and_every_failure_of_a_run(monkeypatch: pytest.MonkeyPatch):
    events = counted(monkeypatch, simpy.Environment, "step")
    work = assembly(from_dict(DOCUMENT)).step()
    simulated.simulate(work)
    tasks = 2 * work.microbatches * work.stages
    assert len(events) >= tasks
    events.clear()
    result = simulate(from_dict({**DOCUMENT, "training": {**DOCUMENT["training"], "steps": 1_000_000}}))
    failures = result.run.interruptions["mean"] * DOCUMENT["runs"]
    assert failures > 10
    assert len(events) >= tasks + failures


def test_networkx_makes_the_graph_and_finds_the_ways(monkeypatch: pytest.MonkeyPatch):
    wired.cache_clear()
    network_of.cache_clear()
    asked, predecessors = [], nx.predecessor
    monkeypatch.setattr(nx, "predecessor", lambda graph, source: (asked.append(source), predecessors(graph, source))[1])
    fabric = network_of(from_dict(DOCUMENT).cluster).fabric
    predict(from_dict(DOCUMENT))
    assert isinstance(fabric.graph, nx.Graph)
    assert {node[0] for node in fabric.graph} >= {"nic", "leaf", "spine"}
    assert asked


def test_the_log_of_a_step_has_the_exchanges_of_every_axis():
    step = simulated.simulate(assembly(from_dict(DOCUMENT)).step(), fold=False)
    assert {span.kind for span in (*step.spans, *step.operations)} >= {
        "tensor", "context", "expert", "pipeline", "data", "compute"
    }  # fmt: skip


def test_a_link_that_is_switched_off_in_the_graph_makes_the_step_longer():
    healthy = from_dict(DOCUMENT)
    sick = from_dict(DOCUMENT, overrides=["cluster.faults=[{link: [leaf/0, spine/0], bandwidth: 0}]"])
    cut = network_of(sick.cluster).fabric.graph
    whole = network_of(healthy.cluster).fabric.graph
    assert sum(whole.get_edge_data(*edge)["count"] for edge in whole.edges) > sum(
        cut.get_edge_data(*edge)["count"] for edge in cut.edges
    )
    assert predict(sick).step_time_s > predict(healthy).step_time_s
