"""A byte-level GPT as small as one likes: 12 L h^2 parameters beside its embeddings, attention kernel by kernel."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from simulator.units import Count

VOCABULARY = 256


class Shape(NamedTuple):
    layers: Count
    hidden: Count
    context: Count = 128

    @property
    def heads(self) -> Count:
        return max(1, self.hidden // 32)

    @property
    def parameters(self) -> Count:
        """Return the parameters outside embeddings and head, biases and norms left out."""
        return 12 * self.layers * self.hidden**2


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        hidden = shape.hidden
        self.heads = shape.heads
        self.before_attention, self.before_mlp = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query_key_value, self.output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.register_buffer("mask", torch.full((shape.context, shape.context), -torch.inf).triu(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self._attention(self.before_attention(x))
        return x + self.down(functional.gelu(self.up(self.before_mlp(x))))

    def _attention(self, x: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        parts = self.query_key_value(x).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / math.sqrt(hidden // self.heads) + self.mask[:length, :length]
        mixed = scores.softmax(-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, length, hidden))


class ByteGpt(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.bytes = nn.Embedding(VOCABULARY, shape.hidden)
        self.positions = nn.Embedding(shape.context, shape.hidden)
        self.blocks = nn.Sequential(*(Block(shape) for _ in range(shape.layers)))
        self.norm = nn.LayerNorm(shape.hidden)
        self.head = nn.Linear(shape.hidden, VOCABULARY, bias=False)

    def forward(self, text: Tensor) -> Tensor:
        """Return the mean loss of each next byte."""
        given, wanted = text[:, :-1], text[:, 1:]
        places = torch.arange(given.shape[1])
        logits = self.head(self.norm(self.blocks(self.bytes(given) + self.positions(places))))
        return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())


def model(shape: Shape, seed: int = 0) -> ByteGpt:
    """Return a model with the same weights for the same seed."""
    torch.manual_seed(seed)
    made = ByteGpt(shape)
    for name, weight in made.named_parameters():
        if weight.dim() == 2:
            into_residual = name.endswith(("output.weight", "down.weight"))
            nn.init.normal_(weight, std=0.02 / math.sqrt(2 * shape.layers) if into_residual else 0.02)
    return made
