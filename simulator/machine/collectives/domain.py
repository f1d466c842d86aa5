"""NCCL's rings and all-to-alls inside one NVLink domain, where the generation of its links was measured."""

from __future__ import annotations

from simulator.machine.channel import Channel
from simulator.machine.collectives import nccl
from simulator.machine.collectives.base import Operation, Plan, bus_factor
from simulator.machine.collectives.inside import Inside
from simulator.machine.collectives.links import ScaleUpLinks
from simulator.machine.collectives.rates import links, ring_rate, widened
from simulator.units import BytesPerSecond, Count, Number, Seconds

PAIR: Count = 2


def measured(channel: Channel) -> Inside | None:
    """Return the constants of a group that one domain joins; None where its links were not measured."""
    return links(channel).inside if channel.inside_host else None


def ring(operation: Operation, channel: Channel, inside: Inside, steps: Count) -> tuple[Plan, ...]:
    """Return a ring with each protocol; the library chooses by its own expectations."""
    factor, constants = bus_factor(operation, channel.ranks), links(channel)
    rate = constants.ring * channel.scale_up_bandwidth * channel.scale_up_factor
    expected = {"LL": min(0.5 * rate, nccl.ll_most(constants.nccl, 1)), "LL128": inside.expected * rate, "Simple": rate}
    low: tuple[nccl.Protocol, ...] = ("LL", "LL128") if inside.of("rate", "LL128") else ("LL",)
    found = [_plan(protocol, channel, inside, steps, factor / _rate(protocol, channel, inside)) for protocol in low]
    found.append(_simple(operation, channel, inside, steps, factor))
    return tuple(
        Plan(
            protocol=plan.protocol,
            latency=plan.latency,
            floor=plan.floor,
            per_byte=plan.per_byte,
            fills=plan.fills,
            expected_latency=_expected(plan.protocol, channel, constants, steps),
            expected_per_byte=factor / expected[plan.protocol],
        )
        for plan in found
    )


def exchange(channel: Channel, inside: Inside) -> tuple[Plan, ...]:
    """Return an all-to-all with LL and with Simple; NCCL sends small messages with LL."""
    peers, factor = channel.ranks - 1, bus_factor("all_to_all", channel.ranks)
    low = _width(channel) * inside.exchange_rate
    first = _of(inside, "start", "LL") + _of(inside, "step", "LL")
    rate = _width(channel, channel.scale_up_exchange) * links(channel).all_to_all * inside.exchange
    per_byte = factor / rate + _turned("all_to_all", channel, inside)
    most = widened(inside.exchange_fill, channel) / rate
    return (
        Plan(
            protocol="LL",
            latency=(first + peers * _of(inside, "peer", "LL")) * channel.latency_factor,
            per_byte=factor / low,
            fills=_more_channels(inside, factor),
        ),
        Plan(
            protocol="Simple",
            latency=(inside.exchange_start + peers * _of(inside, "peer", "Simple")) * channel.latency_factor,
            per_byte=per_byte,
            fills=((most, per_byte),),
        ),
    )


def _plan(protocol: nccl.Protocol, channel: Channel, inside: Inside, steps: Count, per_byte: Number) -> Plan:
    latency = _of(inside, "start", protocol) + steps * (_of(inside, "step", protocol) + channel.scale_up_latency)
    moved = per_byte * _rate(protocol, channel, inside)
    return Plan(
        protocol=protocol,
        latency=latency * channel.latency_factor,
        per_byte=per_byte,
        fills=_more_channels(inside, moved) if protocol == "LL" else (),
    )


def _simple(operation: Operation, channel: Channel, inside: Inside, steps: Count, factor: Number) -> Plan:
    rate = ring_rate(channel) * (inside.pair if channel.ranks == PAIR else 1.0)
    per_byte = factor / rate + _turned(operation, channel, inside)
    step = _of(inside, "step", "Simple") + channel.scale_up_latency
    return Plan(
        protocol="Simple",
        latency=_of(inside, "start", "Simple") * channel.latency_factor,
        floor=steps * step * channel.latency_factor,
        per_byte=per_byte,
        fills=((widened(inside.fill, channel) / rate, per_byte),),
    )


def _expected(protocol: str, channel: Channel, constants: ScaleUpLinks, steps: Count) -> Seconds:
    step = nccl.step(constants.steps, "Ring", protocol) + channel.scale_up_latency
    return (nccl.base("Ring", protocol) + steps * step) * channel.latency_factor


def _more_channels(inside: Inside, moved: Number) -> tuple[tuple[Seconds, Number], ...]:
    return ((inside.channels, moved / inside.channel),)


def _rate(protocol: nccl.Protocol, channel: Channel, inside: Inside) -> BytesPerSecond:
    return _width(channel) * _of(inside, "rate", protocol)


def _width(channel: Channel, bandwidth: BytesPerSecond | None = None) -> BytesPerSecond:
    """Return the bandwidth of a GPU that its group can use, of that given or of all of its links."""
    whole = bandwidth or channel.scale_up_bandwidth
    return links(channel).usable(channel.ranks_per_host, whole, channel.scale_up_pair) * channel.scale_up_factor


def _turned(operation: Operation, channel: Channel, inside: Inside) -> Number:
    rate = inside.of("turn", operation)
    return 1 / (channel.ranks * rate) if rate else 0.0


def _of(inside: Inside, name: str, key: str) -> float:
    found = inside.of(name, key)
    assert found is not None, f"{name} of {key}"
    return found
