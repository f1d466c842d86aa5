"""A new topology is a class with one method: everything else is read off its graph."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CLASS = '''
from dataclasses import dataclass
from typing import ClassVar

import networkx as nx

from topologies.base import Topology, ends


@dataclass(frozen=True, kw_only=True)
class Ladder(Topology):
    """Two switches joined to each other; hosts of even number hang on one, the others on the other."""

    kind: ClassVar[str] = "ladder"
    rungs: float = 1.0

    def graph(self, hosts, nics, apart=None):
        graph = nx.Graph()
        for nic, copies in ends(graph, hosts, nics, apart):
            self.join(graph, nic, ("side", nic[1] % 2), "nic", links=copies)
        self.join(graph, ("side", 0), ("side", 1), "rung", cables=self.rungs)
        return graph


from simulator.cli import main

sys.exit(main())
'''
SCENARIO = """
version: 1
model: llama-3.1-8b
cluster:
  host: hgx-h100
  hosts: 4
  topology: {kind: ladder, rungs: RUNGS}
  faults: FAULTS
stack: {base: generic, overlap_gradient_reduce: false}
parallelism: {shard: optimizer}
training: {steps: 10, sequence_length: 2048, global_batch: 64, microbatch: 1}
runs: 1
"""


def run(folder, *, rungs: int = 4, faults: str = "[]"):
    """Return the result of `foretrain run` with the topology above."""
    (folder / "case.yaml").write_text(SCENARIO.replace("RUNGS", f"{rungs}").replace("FAULTS", faults))
    command = [sys.executable, "-c", f"import sys\n{CLASS}", "run", str(folder / "case.yaml"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["step"]


def test_a_topology_of_one_method_runs(tmp_path):
    step = run(tmp_path)
    assert [link["name"] for link in step["links"]] == ["scale-up", "nic", "rung"]
    nic, rung = step["links"][1:]
    assert rung["bytes"] == pytest.approx(nic["bytes"] * 8 * 2 / 4)
    """A ring through four hosts in turn crosses the rungs from two of them, eight NICs each, over four cables."""


def test_its_parameters_and_faults_count(tmp_path):
    healthy = run(tmp_path)["time_s"]
    assert run(tmp_path, rungs=1)["time_s"] > healthy
    assert run(tmp_path, faults="[{link: [side/0, side/1], bandwidth: 25%}]")["time_s"] == pytest.approx(
        run(tmp_path, rungs=1)["time_s"]
    )
