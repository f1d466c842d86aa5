"""One plugin for each sort of kind, and a scenario that names what it brings."""

from __future__ import annotations

from pathlib import Path

HEAD = '''"""A kind of a test."""

from dataclasses import dataclass
from typing import ClassVar
'''
SCHEDULE = f'''{HEAD}
from simulator.workload.schedules import Schedule, Task


@dataclass(frozen=True, kw_only=True)
class Ahead(Schedule):
    """1F1B with some more forwards ahead."""

    kind: ClassVar[str] = "ahead-1f1b"
    ahead: int = 1
    """Forwards beyond those of 1F1B."""

    def tasks(self, stage, stages, microbatches):
        forwards = [Task("F", microbatch) for microbatch in range(microbatches)]
        backwards = [Task("B", microbatch) for microbatch in range(microbatches)]
        warmup = min(stages - 1 - stage + self.ahead, microbatches)
        order = forwards[:warmup]
        for forward, backward in zip(forwards[warmup:], backwards):
            order += [forward, backward]
        return (*order, *backwards[microbatches - warmup :])
'''
TOPOLOGY = f'''{HEAD}
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
'''
OPTIMIZER = f'''{HEAD}
from simulator.workload.optimizers.base import Optimizer


@dataclass(frozen=True, kw_only=True)
class Signs(Optimizer):
    """One average of each gradient, as Lion has."""

    kind: ClassVar[str] = "signs"

    def moments(self, model, width, *, end):
        return width
'''
BLOCK = f"""{HEAD}
{(Path(__file__).parents[1] / "workload" / "gate_block.py").read_text().split("from __future__ import annotations")[1]}
@dataclass(frozen=True, kw_only=True)
class Named(Gate):
    kind: ClassVar[str] = "gate"
"""
EFFECT = f'''{HEAD}
from simulator.reliability.effects.base import Effect


class Pause(Effect):
    """The job stands still for the timeout of its collectives, and goes on."""

    kind: ClassVar[str] = "pause"
    needs_repair: ClassVar[bool] = False

    def strike(self, job, incident, cause):
        return job.stall(cause.timeout)
'''
SCENARIO = """\
version: 1
model: {layers: 8, hidden: 1024, heads: 8, vocabulary: 1024}
cluster: {host: dgx-h100, hosts: 2}
parallelism: {pipeline: 4, shard: optimizer}
training: {steps: 10000, sequence_length: 2048, global_batch: 64, microbatch: 1}
runs: 2
"""
BRINGS = {
    "schedule ahead-1f1b": (SCHEDULE, "parallelism.schedule={kind: ahead-1f1b, ahead: 0}"),
    "topology ladder": (TOPOLOGY, "cluster.topology={kind: ladder, rungs: 4}"),
    "optimizer signs": (OPTIMIZER, "training.optimizer=signs"),
    "mixer gate": (BLOCK, "model.attention={kind: gate, state: 8}"),
    "effect pause": (EFFECT, "failures={causes: [{unit: host, mtbf: 1h, effect: pause, timeout: 60s}]}"),
}
"""What each plugin brings, its text, and a setting that names it."""
