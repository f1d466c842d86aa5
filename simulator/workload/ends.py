"""The operations at the two ends of the model: embedding, final norm, head and loss."""

from __future__ import annotations

from functools import lru_cache

from simulator.workload.layer import Layer
from simulator.workload.operations import Builder, Exchange, Gemm, Program, Traffic
from simulator.workload.parameters import padded_vocabulary
from simulator.workload.shape import Shape

METRIC_BYTES = 6.0
"""Bytes a token and vocabulary entry of a loss worked out again: a logarithm of the softmax (2 + 2), read once (2)."""


def _vocabulary(shape: Shape) -> int:
    """Columns of the head on one rank."""
    tensor = shape.tensor
    return padded_vocabulary(shape.model.vocabulary, tensor) // tensor


@lru_cache(maxsize=1024)
def embedding_forward(shape: Shape) -> Program:
    out = Builder()
    out.compute("embedding", Traffic(2 * shape.residual_bytes))
    if shape.tensor > 1:
        operation = "reduce_scatter" if shape.sequence else "all_reduce"
        out.exchange("embedding reduce", Exchange("tensor", operation, shape.residual_bytes))
    if shape.model.dropout:
        out.compute("embedding dropout", Traffic(2.5 * shape.residual_bytes * shape.scattered / shape.tokens))
    return out.program()


@lru_cache(maxsize=1024)
def embedding_backward(shape: Shape) -> Program:
    out = Builder()
    if shape.tensor > 1 and shape.sequence:
        out.exchange("embedding gather", Exchange("tensor", "all_gather", shape.residual_bytes))
    out.compute("embedding backward", Traffic(4 * shape.residual_bytes))
    return out.program()


@lru_cache(maxsize=1024)
def head_forward(shape: Shape) -> Program:
    layer, out = Layer(shape), Builder()
    layer.norm(out, "final norm", shape.scattered * shape.model.hidden)
    if layer.sequence:
        out.exchange("head gather", layer.gather())
    out.compute("head", Gemm(shape.tokens, _vocabulary(shape), shape.model.hidden, 1, shape.wide))
    out.compute("loss", Traffic(_loss_bytes(shape) / 2, 6))
    if shape.stack.train_metrics:
        metrics = shape.stack.train_metrics * METRIC_BYTES * shape.tokens * _loss_width(shape)
        out.compute("metrics", Traffic(metrics, 2 * shape.stack.train_metrics))
    return out.program()


@lru_cache(maxsize=1024)
def head_backward(shape: Shape) -> Program:
    layer, out = Layer(shape), Builder()
    product = Gemm(shape.tokens, _vocabulary(shape), shape.model.hidden, 1, shape.wide)
    out.compute("loss backward", Traffic(_loss_bytes(shape) / 2, 3))
    out.compute("head dgrad", product._replace(n=shape.model.hidden, k=product.n))
    if shape.tensor > 1:
        exchange = layer.scatter() if layer.sequence else layer.reduce()
        beside = out.background("head reduce", exchange)
        if not layer.asynchronous:
            out.wait(beside)
        layer.weight(out, "head", product)
        if layer.asynchronous:
            out.wait(beside)
    else:
        layer.weight(out, "head", product)
    layer.norm(out, "final norm backward", shape.scattered * shape.model.hidden, backward=True)
    return out.program()


def _loss_bytes(shape: Shape) -> float:
    return shape.stack.loss_traffic * shape.tokens * _loss_width(shape)


def _loss_width(shape: Shape) -> float:
    """Vocabulary entries that the loss of one rank goes over."""
    return _vocabulary(shape) * (1 if shape.stack.loss == "vocabulary-parallel" else shape.tensor)
