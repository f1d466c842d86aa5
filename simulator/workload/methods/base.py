"""What a way of training says of itself: which weights learn, which stay frozen, and what is added beside them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from typing import ClassVar, Literal, NamedTuple

from simulator.units import Bytes, Share

End = Literal["embedding", "head"]
Format = Literal["fp32", "bf16", "nf4", "int4", "fp8"]

WIDTHS: dict[str, Bytes] = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp8": 1.0,
    "nf4": 0.5 + 1 / 64 + 4 / (64 * 256),
    "int4": 0.5 + 2.5 / 128,
}
"""Bytes of a frozen weight in each format, its scales included. `nf4` has an eight-bit constant for each 64 values and
an fp32 one for each 256 of those (double quantisation, QLoRA, arXiv 2305.14314, section 3); `int4` has a 16-bit scale
and a four-bit zero for each 128 values (GPTQ as AutoGPTQ stores it, `group_size=128`)."""
PLAIN = ("fp32", "bf16")
"""Formats that a product takes as they are."""

ATTENTION = ("query", "key", "value", "output")
LATENT = ("query_down", "query_up", "key_value_down", "key_value_up")
MLP = ("mlp_gate", "mlp_up", "mlp_down")
SHARED = ("shared_expert_gate", "shared_expert_up", "shared_expert_down")

TARGETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "q_proj": (("query",),),
    "k_proj": (("key",),),
    "v_proj": (("value",),),
    "o_proj": (("output",),),
    "gate_proj": (("mlp_gate",), ("shared_expert_gate",)),
    "up_proj": (("mlp_up",), ("shared_expert_up",)),
    "down_proj": (("mlp_down",), ("shared_expert_down",)),
    "q_a_proj": (("query_down",),),
    "q_b_proj": (("query_up",),),
    "kv_a_proj_with_mqa": (("key_value_down",),),
    "kv_b_proj": (("key_value_up",),),
    "linear_qkv": (ATTENTION[:3],),
    "query_key_value": (ATTENTION[:3],),
    "c_attn": (ATTENTION[:3],),
    "linear_proj": (("output",),),
    "dense": (("output",),),
    "c_proj": (("output",), ("mlp_down",)),
    "w1": (("mlp_gate",),),
    "w2": (("mlp_up",),),
    "linear_fc1": (MLP[:2], SHARED[:2]),
    "linear_fc2": (("mlp_down",), ("shared_expert_down",)),
    "dense_h_to_4h": (("mlp_up",),),
    "dense_4h_to_h": (("mlp_down",),),
    "attention": tuple((name,) for name in (*ATTENTION, *LATENT)),
    "mlp": tuple((name,) for name in (*MLP, *SHARED)),
    "all-linear": tuple((name,) for name in (*ATTENTION, *LATENT, *MLP, *SHARED)),
}
"""Matrices that each target means, by the names of Hugging Face, Megatron and older models. Each inner tuple gets one
adapter: a fused projection has one, the matrices that it is made of have one each."""


class Matrix(NamedTuple):
    """A weight matrix of a block that a token is multiplied with."""

    name: str
    """The part of the block that it is."""
    ins: int
    outs: int
    division: Literal["tensor", "key_value", "replicated"] = "tensor"


class Linear(NamedTuple):
    """A product of a block's forward: the matrices that it multiplies by at once."""

    product: str
    """Name of its operation."""
    matrices: tuple[Matrix, ...]
    row: bool = False
    """The tensor axis splits its input, so that outputs are added up; otherwise its output."""
    saved: str = ""
    """Term of what the block saves for the backward that is this product's input, and needed by nothing else."""

    @property
    def outs(self) -> int:
        return sum(matrix.outs for matrix in self.matrices)


class Adapter(NamedTuple):
    """Two thin matrices beside a frozen one: `ins` x `rank` and `rank` x `outs`."""

    name: str
    ins: int
    outs: int
    rank: int
    dropout: Share
    division: Literal["tensor", "key_value", "replicated"]
    row: bool
    share: Share
    """Of the outputs of the product that it stands beside, those that it adds to."""
    weighted: bool = False
    """Each output has a learned magnitude as well (DoRA)."""

    @property
    def size(self) -> int:
        """Trained parameters."""
        return self.rank * (self.ins + self.outs) + self.weighted * self.outs


class Method(ABC):
    """Which weights are trained, and what is added beside those that are not."""

    kind: ClassVar[str]
    trains_base: ClassVar[bool] = False
    """The weights of the model itself learn."""

    @property
    def stored(self) -> Format | None:
        """The format of the frozen matrices inside layers; that of the products where None."""
        return None

    @property
    def whole(self) -> tuple[End, ...]:
        """Ends of the model that are trained whole, whatever else is frozen."""
        return ()

    @property
    def named(self) -> tuple[str, ...]:
        """The targets as the scenario names them."""
        return ()

    def adapters(self, linear: Linear) -> tuple[Adapter, ...]:
        """Return the adapters beside one product."""
        return ()


def chosen(linear: Linear, targets: Iterable[str]) -> tuple[tuple[Matrix, ...], ...]:
    """Return the matrices of a product that targets name, those together that share an adapter."""
    known = {matrix.name: matrix for matrix in linear.matrices}
    groups = dict.fromkeys(names for target in targets for names in TARGETS.get(target, ((target,),)))
    found = (tuple(known[name] for name in names if name in known) for names in groups)
    return tuple(group for group in found if group)
