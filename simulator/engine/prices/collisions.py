"""How a step depends on where flows happen to be hashed: the same step with more and with less luck."""

from __future__ import annotations

from simulator.engine.prices.assembly import Assembly, network_of
from simulator.engine.prices.calibrated import of_network
from simulator.engine.prices.hiding import with_channels
from simulator.engine.step import stage_clocks
from simulator.machine.network import Network
from simulator.scenario.scenario import Scenario
from simulator.units import Number, Share
from simulator.workload.layout import axes


def collisions(scenario: Scenario, assembly: Assembly, luck: Share) -> Number:
    """Return the step with this luck over the one with mean collisions; 1 where nothing is hashed.

    `luck` is the quantile of the share of a link that flows get, on every tier at once.
    """
    cluster = scenario.cluster
    if cluster.topology.routing == "adaptive":
        return 1.0
    assert scenario.parallelism is not None
    measured = of_network(scenario)
    network = Network(cluster.host, cluster.hosts, cluster.topology, cluster.placement, cluster.faults, measured, luck)
    mean = network_of(cluster, measured)
    mesh = axes(scenario.parallelism, scenario.data)
    channels = {name: network.channel(axis.size, axis.stride) for name, axis in mesh.items()}
    if channels == {name: mean.channel(axis.size, axis.stride) for name, axis in mesh.items()}:
        return 1.0
    lucky = stage_clocks.time(with_channels(assembly, channels).step()).seconds
    return lucky / stage_clocks.time(assembly.step()).seconds
