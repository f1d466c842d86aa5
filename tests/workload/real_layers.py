"""Transformer layers of every kind as frameworks write them, and the bytes that autograd keeps of one on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

BATCH, SEQUENCE = 2, 256
DTYPE = torch.bfloat16


def saved_bytes(call: Callable[[Tensor], Tensor], hidden: int, constants: list[Tensor]) -> int:
    """Return the bytes that autograd keeps between forward and backward: every storage once, without `constants`."""
    torch.manual_seed(0)
    left_out = {one.untyped_storage().data_ptr() for one in constants}
    kept: dict[int, int] = {}
    alive: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in left_out:
            kept[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)  # or its address might be given to another one
        return tensor

    inputs = torch.randn(BATCH, SEQUENCE, hidden, dtype=DTYPE, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = call(inputs)
    out.sum().backward()
    return sum(kept.values())


def constants(layer: nn.Module) -> list[Tensor]:
    """Return what is there once and not for each microbatch: parameters, rotary tables, masks."""
    return [*layer.parameters(), *layer.buffers()]


class EagerNorm(nn.Module):
    """RMSNorm in plain Python, which works in fp32."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden, dtype=DTYPE))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return wide.type_as(x) * self.weight


class Attention(nn.Module):
    """Self-attention: fused where torch has a kernel for it, else scores, softmax and dropout one by one."""

    def __init__(
        self,
        hidden: int,
        heads: int,
        kv_heads: int,
        *,
        fused: bool = True,
        dropout: float = 0.0,
        rotary: bool = False,
        repeats: bool = False,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        self.fused, self.dropout, self.repeats = fused, dropout, repeats
        self.query = nn.Linear(hidden, hidden, bias=bias, dtype=DTYPE)
        self.key = nn.Linear(hidden, kv_heads * self.size, bias=bias, dtype=DTYPE)
        self.value = nn.Linear(hidden, kv_heads * self.size, bias=bias, dtype=DTYPE)
        self.out = nn.Linear(hidden, hidden, bias=bias, dtype=DTYPE)
        angles = torch.outer(torch.arange(SEQUENCE), 1e4 ** -(torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("rotation", torch.polar(torch.ones_like(angles), angles) if rotary else None)
        self.register_buffer("mask", torch.ones(SEQUENCE, SEQUENCE, dtype=torch.bool).triu(1))

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (self._split(part(x)) for part in (self.query, self.key, self.value))
        if self.rotation is not None:
            query, key = self._rotated(query), self._rotated(key)
        if self.repeats:
            copies = self.heads // self.kv_heads
            key, value = (one.repeat_interleave(copies, dim=1) for one in (key, value))
        out = self._kernel(query, key, value) if self.fused else self._unfused(query, key, value)
        return self.out(out.transpose(1, 2).reshape(x.shape))

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], -1, self.size).transpose(1, 2)

    def _rotated(self, x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.rotation).flatten(3).type_as(x)

    def _kernel(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        grouped = self.kv_heads < self.heads and not self.repeats
        return functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=grouped)

    def _unfused(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) * self.size**-0.5
        weights = scores.masked_fill(self.mask, -1e4).softmax(-1)
        return functional.dropout(weights, self.dropout) @ value


class Gpt(nn.Module):
    """LayerNorm before attention and before an MLP of four times the width with GELU."""

    def __init__(self, hidden: int, heads: int, *, fused: bool = True, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.first, self.second = (nn.LayerNorm(hidden, dtype=DTYPE) for _ in range(2))
        self.attention = Attention(hidden, heads, heads, fused=fused, dropout=0.0 if fused else dropout, bias=True)
        self.up, self.down = nn.Linear(hidden, 4 * hidden, dtype=DTYPE), nn.Linear(4 * hidden, hidden, dtype=DTYPE)

    def forward(self, x: Tensor) -> Tensor:
        x = x + functional.dropout(self.attention(self.first(x)), self.dropout)
        return x + functional.dropout(self.down(functional.gelu(self.up(self.second(x)))), self.dropout)


class Llama(nn.Module):
    """RMSNorm, rotary embedding, grouped keys and values, and a gated MLP."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, ffn: int, **attention: Any) -> None:
        super().__init__()
        self.first, self.second = EagerNorm(hidden), EagerNorm(hidden)
        self.attention = Attention(hidden, heads, kv_heads, rotary=True, **attention)
        self.gate, self.up = (nn.Linear(hidden, ffn, bias=False, dtype=DTYPE) for _ in range(2))
        self.down = nn.Linear(ffn, hidden, bias=False, dtype=DTYPE)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.first(x))
        y = self.second(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))
