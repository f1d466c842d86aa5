"""The projections of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).

Queries, keys and values come from low-rank latents. The down-projections are small and whole on every tensor rank,
which makes them for the tokens it holds; the latents are gathered before they are projected up to the rank's heads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.workload.model import Latent
from simulator.workload.operations import Builder, Exchange, Gemm

if TYPE_CHECKING:
    from simulator.workload.layer import Layer


def products(layer: Layer) -> list[tuple[str, Gemm]]:
    """Return the down- and up-projections by name."""
    model, shape, attention = layer.model, layer.shape, layer.model.attention
    assert isinstance(attention, Latent)
    heads, rows = model.heads // layer.tensor, int(shape.scattered)
    keys_and_values = heads * (attention.nope_size + attention.value_size)
    found = []
    if attention.q_rank:
        found.append(("q down", Gemm(rows, attention.q_rank, model.hidden, 1, layer.dtype)))
    queries = attention.q_rank or model.hidden
    found.append(("q up", Gemm(shape.tokens, heads * model.query_size, queries, 1, layer.dtype)))
    found.append(("kv down", Gemm(rows, attention.kv_rank + attention.rope_size, model.hidden, 1, layer.dtype)))
    found.append(("kv up", Gemm(shape.tokens, keys_and_values, attention.kv_rank, 1, layer.dtype)))
    return found


def _gather(layer: Layer) -> Exchange:
    attention = layer.model.attention
    assert isinstance(attention, Latent)
    width = attention.q_rank + attention.kv_rank + attention.rope_size
    return Exchange("tensor", "all_gather", layer.shape.tokens * width * layer.shape.value_bytes)


def latent_forward(layer: Layer, out: Builder) -> None:
    for name, product in products(layer):
        layer.cast(out, name, product.m * product.k)
        if name == "q up" and layer.sequence:
            out.exchange("latent gather", _gather(layer))
        out.compute(name, product)
        if name.endswith("down"):
            layer.norm(out, f"{name} norm", product.m * product.n)


def latent_backward(layer: Layer, out: Builder) -> None:
    for name, product in reversed(products(layer)):
        layer.cast(out, f"{name} grad", product.m * product.n)
        out.compute(f"{name} dgrad", product._replace(n=int(product.k), k=product.n))
        layer.weight(out, name, product)
        if name == "q up" and layer.sequence:
            out.exchange("latent scatter", _gather(layer)._replace(operation="reduce_scatter"))
