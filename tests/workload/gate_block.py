"""A mixer that ships with nothing: it gates the stream with a running mean of it.

Two matrices in, one out, and a pass over bytes for the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.workload.blocks.base import Block, Part
from simulator.workload.blocks.mixer import Mixer
from simulator.workload.operations import Traffic


@dataclass(frozen=True, kw_only=True)
class Gate(Block, Mixer):
    name = "gate"
    state: int = 16

    def parts(self, model):
        square = model.hidden**2
        return Part("gate_in", 2 * square, "tensor"), Part("gate_out", square, "tensor")

    def flops(self, model, sequence, convention):
        return 6.0 * self.state * model.hidden

    def forward(self, out):
        out.column("gate in", 2 * out.model.hidden / out.tensor)
        out.compute("gate mean", Traffic(self._values(out.rank) * 3 * out.rank.value))
        out.row("gate out", out.model.hidden / out.tensor)

    def backward(self, out):
        out.row_backward("gate out", out.model.hidden / out.tensor)
        out.compute("gate mean backward", Traffic(self._values(out.rank) * 5 * out.rank.value))
        out.column_backward("gate in", 2 * out.model.hidden / out.tensor)

    def kept(self, rank):
        return {"gate inner": 3 * rank.value * self._values(rank)}

    @staticmethod
    def _values(rank):
        return rank.tokens * rank.model.hidden / rank.tensor
