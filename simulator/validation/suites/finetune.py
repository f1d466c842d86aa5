"""Fine-tuning runs: step time, memory and whether it fitted, by method and source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from simulator.validation.predict import Predictor
from simulator.validation.row import Row
from simulator.validation.suites.base import Suite
from simulator.validation.workers import spread

if TYPE_CHECKING:
    from simulator.validation.lines import Line

LAYOUT = frozenset({"gpus", "gpus_per_node", "tp", "pp", "vpp", "cp", "dp", "ep", "micro_batch", "global_batch"})
TUNED = frozenset({"lora_rank", "lora_alpha", "lora_dropout", "grad_accum", "seq", "tokens_per_step"})
MEASURED = frozenset({"step_time_s", "mem_gb", "oom"})


class Finetune(Suite):
    kind: ClassVar[str] = "finetune"
    columns: ClassVar[frozenset[str]] = frozenset({"id", "source", "method", "base_dtype", "lora_rank", "stack", "gpu"})
    numbers: ClassVar[frozenset[str]] = LAYOUT | TUNED | MEASURED
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"oom", "lora_dropout"})

    def family(self, row: Row) -> str:
        return row.text("source")

    def lines(self, rows: Sequence[Row], predictor: Predictor, workers: int = 1) -> tuple[Line, ...]:
        return spread(partial(lines, predictor=predictor), rows, workers)


def lines(row: Row, predictor: Predictor) -> Iterator[Line]:
    """Yield a line for each quantity: the step of samples of mean length, the memory of the longest ones."""
    from simulator.validation import predict, tuned_runs

    step, memory = tuned_runs.of_step(row), tuned_runs.of_memory(row)
    found = predict.lines(step, predictor)
    if step != memory:
        longest = tuple(predict.lines(memory, predictor))
        kept = tuple(line for line in found if line.quantity == predict.STEP_TIME)
        found = iter((*kept, *(line for line in longest if line.quantity != predict.STEP_TIME or not kept)))
    for line in found:
        yield replace(line, suite=Finetune.kind)
