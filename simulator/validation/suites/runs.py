"""Training runs: step time, memory and whether it fitted, by layout."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from simulator.validation.predict import Predictor
from simulator.validation.row import Row
from simulator.validation.suites.base import Suite
from simulator.validation.workers import spread

if TYPE_CHECKING:
    from simulator.validation.lines import Line

CLUSTER = frozenset({"nics", "nic_gbps", "year", "gpus", "gpus_per_node"})
MODEL = frozenset(
    {
        *("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "seq"),
        *("experts", "top_k", "moe_ffn", "shared_experts", "dense_layers"),
    }
)
LAYOUT = frozenset({"tp", "pp", "dp", "cp", "ep", "expert_tensor", "vpp", "micro_batch", "global_batch"})
MEASURED = frozenset({"step_time_s", "tokens_per_s_per_gpu", "mem_gb", "score_time", "oom"})


class Runs(Suite):
    kind: ClassVar[str] = "runs"
    columns: ClassVar[frozenset[str]] = frozenset({"id", "family", "gpu_name", "gpus", "layers", "hidden", "tp", "pp"})
    numbers: ClassVar[frozenset[str]] = CLUSTER | MODEL | LAYOUT | MEASURED
    may_be_zero: ClassVar[frozenset[str]] = frozenset(
        {"experts", "shared_experts", "dense_layers", "score_time", "oom"}
    )

    def lines(self, rows: Sequence[Row], predictor: Predictor, workers: int = 1) -> tuple[Line, ...]:
        from simulator.validation.predict import lines

        return spread(partial(lines, predictor=predictor), rows, workers)
