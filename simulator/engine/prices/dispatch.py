"""What dispatch and combine send over each level of links, copies of rows to ranks or hosts, and how long that takes.

A plain all-to-all sends a row once for each expert. A dispatcher that forwards (DeepEP, HybridEP) sends a token once to
each host that holds one of its experts, to the GPU there with the sender's own number, which passes it on over the
scale-up links to each rank of that host that holds one (DeepEP, `csrc/kernels/legacy/internode.cu`; DeepSeek-V3, arXiv
2412.19437, section 3.2.2). A combine takes the same way back and adds up where copies meet. Both levels are busy at
once, piece by piece, so that the fuller one sets the time.
"""

from __future__ import annotations

from simulator.machine.channel import Channel
from simulator.machine.collectives import experts
from simulator.machine.collectives.all_to_all import Sent
from simulator.machine.collectives.experts import Rows
from simulator.machine.hardware import Gpu
from simulator.units import Number, Seconds
from simulator.workload.operations import Exchange
from simulator.workload.routing import Routing

LIBRARY = "deepep"


def forwarded(routing: Routing, channel: Channel) -> Sent:
    """Return what a dispatcher that forwards sends over each level, by byte of a buffer with a row for each expert.

    Of the hosts that a token reaches, the sender's own is as likely as any other, and so is its own rank.
    """
    width, ranks = channel.ranks_per_host, channel.ranks
    up = routing.places(_held(routing, ranks)) / routing.active * (width - 1) / width
    if channel.inside_host:
        return Sent(up, 0.0, 0)
    hosts = routing.places(_held(routing, ranks) * width) / routing.active
    return Sent(up, width * hosts * (ranks - width) / ranks, channel.hosts - 1)


def seconds(work: Exchange, routing: Routing, channel: Channel, gpu: Gpu, sms: Number) -> Seconds:
    """Return the time of a dispatch or combine by a kernel that may use so many multiprocessors."""
    kernel = experts.kernel(LIBRARY, "combine" if work.adds else "dispatch", gpu.architecture)
    if not work.row:
        kernel = experts.without_work(kernel)
    sent = forwarded(routing, channel)
    rows = Rows(
        tokens=work.nbytes / routing.active / work.row if work.row else 0.0,
        copies=routing.places(_held(routing, channel.ranks)),
        row=work.row,
        experts=routing.experts,
        up=work.nbytes * sent.up,
        out=work.nbytes * sent.out,
        peers=sent.peers,
    )
    return experts.seconds(kernel, rows, channel, gpu, sms)


def _held(routing: Routing, ranks: int) -> int:
    """Return the experts of one rank."""
    return max(1, routing.experts // ranks)
