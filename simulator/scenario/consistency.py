"""What must fit together between sections, each mistake with its numbers."""

from __future__ import annotations

import math

from simulator.scenario.cluster import Cluster
from simulator.scenario.document import Keys
from simulator.scenario.limits import MOST_CHUNKS, MOST_TASKS
from simulator.scenario.mistakes import Mistakes, listed
from simulator.workload.layers import kinds_of
from simulator.workload.layout import Parallelism, chunks
from simulator.workload.model import Experts, Model
from simulator.workload.schedules import soundness
from simulator.workload.stack import AXES, Stack
from simulator.workload.training import Training


def check_mesh(parallelism: Parallelism, cluster: Cluster, mistakes: Mistakes) -> int | None:
    """Return the size of the data axis, or None where the GPUs do not divide."""
    gpus = cluster.hosts * cluster.host.gpus
    tensor, pipeline, context = parallelism.tensor, parallelism.pipeline, parallelism.context.size
    block = tensor * pipeline * context
    if gpus % block:
        mistakes.add(
            ("parallelism",),
            f"{gpus:,} GPUs ({cluster.hosts:,} hosts x {cluster.host.gpus}) are not divisible by tensor {tensor} x "
            f"pipeline {pipeline} x context {context} = {block:,}{_near(cluster.hosts, cluster.host.gpus, block)}",
        )
        return None
    return gpus // block


def _near(hosts: int, per_host: int, block: int) -> str:
    step = block // math.gcd(block, per_host)
    return f"; {-(-hosts // step) * step:,} hosts would be"


def check_batch(data: int, parallelism: Parallelism, training: Training, mistakes: Mistakes) -> int | None:
    """Return the microbatches of a step, or None where the batch does not divide."""
    batches: list[tuple[Keys, int]] = [(("global_batch",), training.global_batch)]
    batches += [(("phases", i, "global_batch"), phase.global_batch) for i, phase in enumerate(training.phases)]
    each = data * training.microbatch
    for place, batch in batches:
        if batch % each:
            best = max(each, round(batch / each) * each)
            mistakes.add(
                ("training", *place),
                f"{batch:,} sequences are not divisible by data {data:,} x microbatch {training.microbatch:,} = "
                f"{each:,}; {best:,} would be",
            )
            return None
    microbatches = training.global_batch // each
    passes = parallelism.pipeline * parallelism.schedule.chunks_per_stage
    different = {(phase.global_batch, phase.sequence_length) for phase in training.phases}
    in_phases = sum(batch // each for batch, _ in different)
    if microbatches <= MOST_TASKS // passes < in_phases:
        mistakes.add(
            ("training", "phases"),
            f"{in_phases:,} microbatches of a step of each phase are too much; {MOST_TASKS // passes:,} are the most "
            f"that can be simulated",
        )
        return None
    if microbatches * passes > MOST_TASKS:
        through = f" through {passes:,} chunks of layers each" if passes > 1 else ""
        mistakes.add(
            ("training", "global_batch"),
            f"{microbatches:,} microbatches a step{through} are too much; {MOST_TASKS // passes:,} are the most that "
            f"can be simulated",
        )
        return None
    return microbatches


def check_schedule(parallelism: Parallelism, microbatches: int, mistakes: Mistakes) -> None:
    """Note numbers that a schedule cannot run with, or tasks that it leaves out, doubles or puts in a wrong order.

    The tasks of schedules that ship are held sound by tests, which is too slow to do for every scenario that is read.
    """
    schedule, stages = parallelism.schedule, parallelism.pipeline
    why = schedule.check(stages, microbatches)
    if not why and not soundness.ships(schedule):
        why = soundness.mistake(schedule, stages, microbatches)
    if why:
        mistakes.add(("parallelism", "schedule"), why)


def check_model(model: Model, parallelism: Parallelism, training: Training, mistakes: Mistakes) -> None:
    """Note what tensor and context parallelism cannot divide."""
    tensor, context = parallelism.tensor, parallelism.context
    at = ("parallelism", "tensor")
    found = (block.check(model, parallelism) for blocks in kinds_of(model) for block in blocks)
    for place, why in dict.fromkeys(filter(None, found)):
        mistakes.add(place, why)
    if model.ffn % tensor:
        mistakes.add(at, f"the MLP's width, ffn {model.ffn}, is not divisible by tensor {tensor}")
    if context.ulysses > 1 and context.kind == "ulysses":
        why = "kind ulysses exchanges heads over all ranks; leave `ulysses` out, or choose kind ring or all-gather"
        mistakes.add(("parallelism", "context"), why)
    elif context.size % context.ulysses:
        why = f"ulysses {context.ulysses} does not divide context {context.size}"
        mistakes.add(("parallelism", "context"), why)
    parts = context.size * (tensor if parallelism.sequence else 1)
    if training.sequence_length % parts:
        mistakes.add(
            ("training", "sequence_length"),
            f"{training.sequence_length} tokens are not divisible by context {context.size}"
            + (f" x tensor {tensor} (sequence parallelism)" if parallelism.sequence and tensor > 1 else ""),
        )
    if model.positions == "learned" and training.sequence_length > model.max_positions:
        mistakes.add(
            ("training", "sequence_length"),
            f"{training.sequence_length} tokens exceed the model's {model.max_positions} learned positions",
        )


def check_experts(model: Model, parallelism: Parallelism, data: int, mistakes: Mistakes) -> None:
    """Note a division of experts that leaves a remainder."""
    expert, expert_tensor, experts = parallelism.expert, parallelism.expert_tensor, model.experts
    at = ("parallelism", "expert")
    if experts is None:
        if expert * expert_tensor > 1:
            mistakes.add(at, f"expert {expert} x expert_tensor {expert_tensor} needs a model with experts; it has none")
        return
    block = parallelism.tensor * parallelism.context.size * data
    if block % (expert * expert_tensor):
        mistakes.add(
            at,
            f"expert {expert} x expert_tensor {expert_tensor} does not divide tensor {parallelism.tensor} x context "
            f"{parallelism.context.size} x data {data:,} = {block:,}",
        )
    if experts.count % expert:
        mistakes.add(at, f"{experts.count} experts are not divisible by expert {expert}")
    if experts.ffn % expert_tensor:
        mistakes.add(
            ("parallelism", "expert_tensor"), f"an expert's width {experts.ffn} is not divisible by {expert_tensor}"
        )
    if experts.active > experts.count:
        mistakes.add(("model", "experts"), f"{experts.active} active of {experts.count} experts")
    _check_groups(experts, mistakes)


def _check_groups(experts: Experts, mistakes: Mistakes) -> None:
    """Note groups of experts that are not equal, or too few for the experts of a token."""
    if experts.count % experts.groups:
        mistakes.add(("model", "experts", "groups"), f"{experts.groups} groups do not divide {experts.count} experts")
    elif (limit := experts.routing.limit) > experts.groups:
        mistakes.add(("model", "experts", "active_groups"), f"{limit} active of {experts.groups} groups")
    elif experts.active > (room := limit * (experts.count // experts.groups)):
        mistakes.add(
            ("model", "experts", "active_groups"),
            f"a token goes to {experts.active} experts, but {limit} of {experts.groups} groups hold only {room}",
        )


def check_shard(parallelism: Parallelism, data: int, mistakes: Mistakes) -> None:
    """Note replicas of a hybrid shard that do not divide the ranks that share a shard."""
    ranks = parallelism.context.size * data
    if ranks % parallelism.shard.replicas:
        mistakes.add(
            ("parallelism", "shard"),
            f"{parallelism.shard.replicas} replicas do not divide context {parallelism.context.size} x data {data:,} = "
            f"{ranks:,}",
        )


def check_split(model: Model, stack: Stack, parallelism: Parallelism, mistakes: Mistakes) -> None:
    """Note a stage that is left empty, or a given split that does not add up."""
    at = ("parallelism", "split" if parallelism.split else "pipeline")
    parts = parallelism.pipeline * parallelism.schedule.chunks_per_stage
    if parts > MOST_CHUNKS:
        mistakes.add(at, f"{parts:,} chunks of layers; {MOST_CHUNKS:,} is the most that can be simulated")
        return
    try:
        chunks(model, stack, parallelism)
    except ValueError as error:
        mistakes.add(at, str(error))


def check_axes(parallelism: Parallelism, stack: Stack, mistakes: Mistakes) -> None:
    """Note a parallel axis or a pipeline schedule that the software does not have."""
    schedule, known = parallelism.schedule, stack.schedules
    for axis in AXES:
        size = parallelism.context.size if axis == "context" else getattr(parallelism, axis)
        if size > 1 and axis not in stack.axes:
            has = listed((*stack.axes, "data"))
            mistakes.add(
                ("parallelism", axis), f"{_named(stack)} has no {axis} parallelism; stack.axes says that it has {has}"
            )
    if parallelism.pipeline > 1 and known is not None and schedule.kind not in known and soundness.ships(schedule):
        mistakes.add(
            ("parallelism", "schedule"),
            f"{_named(stack)} has no schedule {schedule.kind}; stack.schedules says that it has {listed(known)}",
        )


def check_level(parallelism: Parallelism, data: int, stack: Stack, mistakes: Mistakes) -> None:
    """Note a level of sharding that the software does not have."""
    level = parallelism.shard.level
    if parallelism.context.size * data > 1 and level not in stack.shards:
        what = "has no replicas that share nothing" if level == "none" else f"does not shard {level}"
        mistakes.add(
            ("parallelism", "shard"),
            f"{_named(stack)} {what}; stack.shards says that it has {listed(stack.shards)}",
        )


def _named(stack: Stack) -> str:
    return f"{stack.framework} {stack.year}"
