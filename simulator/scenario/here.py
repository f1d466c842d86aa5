"""What a scenario has, as far as it decides whether a key matters."""

from __future__ import annotations

from functools import cached_property

from simulator.machine import hashing
from simulator.machine.network import fitted, wired
from simulator.scenario.cluster import usual_storage
from simulator.scenario.feasibility import MOST_WIRED, takes_hosts
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds
from simulator.workload.layer import NORMS
from simulator.workload.layers import kinds_of
from simulator.workload.rank import LOW_PRECISION, layer_by_layer


class Here:
    """What a scenario has, as far as keys depend on it. Asked only where a key is written."""

    def __init__(self, scenario: Scenario, keys: frozenset[str]) -> None:
        self.scenario, self.keys = scenario, keys
        self.model, self.stack, self.training = scenario.model, scenario.stack, scenario.training
        self.layout, self.cluster, self.failures = scenario.parallelism, scenario.cluster, scenario.failures
        self.checkpoint, self.recovery = scenario.checkpoint, scenario.recovery

    @property
    def step(self) -> bool:
        return self.training.step_time is None

    @property
    def experts(self) -> bool:
        return self.model is not None and self.model.experts is not None

    @cached_property
    def modules(self) -> frozenset[str]:
        """Modules of the model's layers that can be recomputed by name."""
        blocks = (block for layer in kinds_of(self.model) for block in layer) if self.model is not None else ()
        return frozenset(NORMS).union(*(block.modules for block in blocks))

    @property
    def latent(self) -> bool:
        return "mla_up" in self.modules

    @property
    def dropout(self) -> bool:
        return self.model is not None and self.model.dropout > 0

    @property
    def biased(self) -> bool:
        return self.model is not None and self.model.bias == "all"

    @property
    def sinks(self) -> bool:
        return self.model is not None and self.model.sinks

    @property
    def microbatches(self) -> int:
        """Microbatches of a step on one replica; one where there are no replicas."""
        return self.scenario.replica.microbatches if self.layout is not None and self.model is not None else 1

    @property
    def keeps_scores(self) -> bool:
        """Whether some layer has unfused attention."""
        if self.model is None or self.layout is None:
            return self.stack.attention_of(sinks=self.sinks) == "unfused"
        return any(block.keeps_scores(self.scenario.rank) for layer in kinds_of(self.model) for block in layer)

    @property
    def low_precision(self) -> bool:
        return self.training.precision.kind in LOW_PRECISION

    @property
    def several_hosts(self) -> bool:
        return self.cluster.hosts > 1

    def axis(self, name: str) -> int:
        """Return the size of an axis; 1 without a layout."""
        if self.layout is None:
            return 1
        return self.layout.context.size if name == "context" else int(getattr(self.layout, name))

    @property
    def sharers(self) -> int:
        """Ranks that have the same weights."""
        return self.axis("context") * self.scenario.data

    def shards(self, *levels: str) -> bool:
        return self.layout is not None and self.sharers > 1 and self.layout.shard.level in levels

    @property
    def gathers(self) -> bool:
        """Whether layers gather their weights for themselves."""
        return self.layout is not None and self.sharers > 1 and layer_by_layer(self.stack, self.layout.shard)

    @property
    def offloads(self) -> bool:
        return self.training.offload is not None and self.model is not None

    @property
    def updates_on_host(self) -> bool:
        offload = self.training.offload
        return offload is not None and offload.optimizer > 0 and self.step

    @property
    def of_matrices(self) -> bool:
        """Whether the optimizer works on whole matrices."""
        return self.training.optimizer.of_matrices and self.model is not None and self.step

    @cached_property
    def interrupted(self) -> bool:
        return self.failures.scale > 0 and (
            any(cause.interrupts for cause in self.failures.causes) or self.failures.burn_in is not None
        )

    @property
    def strikes_hosts(self) -> bool:
        return any(cause.on_host for cause in self.failures.causes)

    @property
    def takes_hosts(self) -> bool:
        return self.failures.burn_in is not None or any(
            takes_hosts(cause) or (cause.effect == "slow" and cause.on_host) for cause in self.failures.causes
        )

    @property
    def saves(self) -> bool:
        return self.checkpoint.saves

    @property
    def tiered(self) -> bool:
        return bool(self.checkpoint.tiers)

    @property
    def usual_storage(self) -> bool:
        return self.cluster.storage == usual_storage(self.cluster.hosts)

    @property
    def asynchronous(self) -> bool:
        return self.checkpoint.mode == "async"

    @property
    def copies_a_save(self) -> bool:
        """Whether training waits until a save has been copied to the hosts."""
        return self.asynchronous and self.saves and not self.tiered and self.checkpoint.stall is None

    @property
    def said_of_a_save(self) -> Seconds | None:
        """How long writing a save takes, where the scenario says so itself."""
        return self.checkpoint.persist if self.asynchronous else self.checkpoint.stall

    @cached_property
    def ways(self) -> bool:
        """Whether flows have several switches to be hashed onto."""
        topology, nics = fitted(self.cluster.topology, self.cluster.host)
        hosts = self.cluster.placement.fabric_hosts(self.cluster.hosts)
        if topology.scale_up or hosts < 2:
            return False
        if hosts > MOST_WIRED:
            return True
        return bool(hashing.choices(wired(topology, hosts, max(nics, 1)).graph, topology.bandwidth))
