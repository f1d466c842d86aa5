"""Row -> scenario: what a published row says in the form that any user writes."""

from __future__ import annotations

from typing import Any

from simulator.validation import batches, layouts, phrases, rigs, shapes, stacks, tuned_runs
from simulator.validation.expression import Expression
from simulator.validation.row import Row


def expression(row: Row) -> Expression:
    """Return the scenario of the row, one for each microbatch size that it leaves open.

    Raises InexpressibleError with the reason where no scenario says what the row says.
    """
    tuned_runs.check(row)
    model = shapes.model(row)
    rig = rigs.rig(row)
    size = layouts.degrees(row)
    stack = stacks.stack(row)
    batch, microbatches = batches.sizes(row, size, stack.framework)
    common = {"version": 1, "name": row.text("id"), "model": model, "cluster": rig.cluster}
    if moe := phrases.said("moe", row.text("notes")):
        common["moe"] = moe
    return Expression(
        scenarios=tuple(
            common | _sections(row, size, stack, rig.gpus_per_host, batch, microbatch) for microbatch in microbatches
        ),
        notes=(*rig.notes, *stack.notes, *left_out(row, size)),
    )


def left_out(row: Row, size: layouts.Degrees) -> tuple[str, ...]:
    """Return a note of the columns that the row leaves empty and a rule, or the stack, fills in."""
    matters = {
        "micro_batch": True,
        "global_batch": True,
        "recompute": True,
        "zero_stage": size.data * size.context > 1,
        "sequence_parallel": size.tensor > 1,
        "schedule": size.pipeline > 1,
        "vpp": size.pipeline > 1 and row.text("schedule") in ("", layouts.INTERLEAVED),
        "expert_tensor": bool(row.whole("experts")),
        **dict.fromkeys(("heads", "ffn", "vocab", "gated_mlp", "tie_embeddings", "flash_attention"), True),
    }
    names = [name for name, counts in matters.items() if counts and not row.text(name)]
    return (f"by rule: {', '.join(names)}",) if names else ()


def _sections(
    row: Row, size: layouts.Degrees, stack: stacks.Choice, gpus_per_host: int, batch: int, microbatch: int
) -> dict[str, Any]:
    parallelism = layouts.parallelism(row, size, stack, gpus_per_host, batch // (size.data * microbatch))
    layers_a_stage = (row.whole("layers") or size.pipeline) // size.pipeline
    return {
        "stack": stack.stack,
        "parallelism": parallelism,
        "training": batches.training(row, batch, microbatch, layers_a_stage),
    }
