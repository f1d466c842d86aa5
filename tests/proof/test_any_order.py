"""What a process was asked before changes no answer: to the bit they are those of one that was asked nothing."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from functools import cache, lru_cache
from itertools import product
from typing import Any

import pytest
from any_scenario import EVERYTHING, SOME, Document, scenarios
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.prices.assembly import assembly
from simulator.engine.step import recorded, simulated
from simulator.errors import ForetrainError
from simulator.scenario import from_dict
from simulator.simulation import predict, useful_work

Question = tuple[Document, tuple[str, ...], tuple[str, ...]]
"""A scenario, what is set in it, and the terms of physics left out."""
OURS = ("simulator.", "topologies.")
FIXED = ("simulator.catalog", "simulator.kinds", "simulator.scenario.derive", "simulator.scenario.shape")
"""What they look up hangs on files and classes alone, and takes long."""
CHANGES = (
    (),
    ("parallelism.shard={level: none}",),
    ("parallelism.shard={level: gradients}",),
    ("parallelism.shard={level: parameters}",),
    ("parallelism.schedule={kind: zb-h1}",),
    ("parallelism.schedule={kind: zb-v}",),
    ("parallelism.schedule={kind: dualpipe}",),
    ("parallelism.split=slots",),
    ("parallelism.expert=2",),
    ("training.recompute={kind: none}",),
    ("training.recompute={kind: full}",),
    ("training.recompute={kind: full, layers: 1}",),
    ("training.offload={optimizer: 100%, activations: 50%}",),
    ("training.offload={parameters: 100%, optimizer: 100%}", "parallelism.shard=parameters"),
    ("training.optimizer=muon",),
    ("training.tokens=null", "training.steps=null", "training.duration=null", "training.phases=[PHASES]"),
    ("moe={imbalance: 1.5, capacity: 2}",),
    ("cluster.faults=[{host: 0, bandwidth: 50%}]",),
    ("cluster.faults=[{host: 0, slow: 1.2}]",),
    ("calibration={software: 0.8, network: {scale_out: 0.5}}",),
    ("calibration={products: {bf16: 0.7}, elementwise: 0.9}",),
    (f"stack={json.dumps({'base': 'torchtitan-2024', **EVERYTHING})}",),
    (
        f"stack={json.dumps({'base': 'megatron-core-2024', **EVERYTHING})}",
        *("stack.shard_unit=tensor", "stack.row_bias=apart", "stack.norm_casts=true"),
    ),
)
ONE_STAGE = (
    "parallelism.pipeline=1",
    "parallelism.schedule={{kind: interleaved-1f1b, chunks: {stages}}}",
    "training.global_batch={batch}",
)
"""As many chunks of the model, all on one stage."""
TERMS = (
    (),
    ("fitted",),
    ("ends",),
    ("recompute",),
    ("data",),
    ("tensor",),
    ("bubble", "host"),
    ("offload", "products"),
)


@st.composite
def questions(draw: st.DrawFn) -> list[Question]:
    """Return questions about relatives of one scenario, which share most of what is looked up, and about a stranger."""
    document, stranger = draw(scenarios(runs=1)), draw(scenarios(runs=1))
    stages, batch = document["parallelism"]["pipeline"], document["training"]["global_batch"]
    layouts = [(), tuple(one.format(stages=stages, batch=stages * batch) for one in ONE_STAGE)]
    phases = f"{{tokens: 1M, global_batch: {stages * batch}}}, {{tokens: 2M, global_batch: {2 * stages * batch}}}"
    changes = [tuple(one.replace("PHASES", phases) for one in change) for change in CHANGES]
    without = draw(st.sampled_from(TERMS))
    relatives = [(document, (*a, *b), without) for a, b in product(layouts if stages > 1 else layouts[:1], changes)]
    return [*relatives, (document, (), draw(st.sampled_from(TERMS))), (stranger, (), without)]


def answer(question: Question) -> str:
    """Return all digits of a prediction, its step piece by piece and its phases; or why there is none."""
    document, said, without = question
    try:
        scenario = from_dict(document, overrides=said)
        work = assembly(scenario, without=without).step()
        quick = predict(scenario, without=without)
        return repr(
            (quick, list(recorded.play([work])), simulated.simulate(work), useful_work(scenario, quick.step_time_s))
        )
    except ForetrainError as error:
        return str(error)


@cache
def caches() -> tuple[Any, ...]:
    """Return all that is looked up once in answering."""
    kind = type(lru_cache(len))
    found = [one for one in gc.get_objects() if isinstance(one, kind)]
    return tuple(one for one in found if one.__module__.startswith(OURS) and one.__module__ not in FIXED)


def forget() -> None:
    for one in caches():
        one.cache_clear()


def fresh(question: Question) -> str:
    forget()
    return answer(question)


@settings(SOME, max_examples=max(SOME.max_examples // 5, 1))
@given(questions(), st.randoms(use_true_random=False))
def test_what_was_asked_before_changes_no_answer(asked, random):
    alone = [fresh(question) for question in asked]
    forget()
    order = 2 * list(range(len(asked)))
    random.shuffle(order)
    for number in order:
        assert answer(asked[number]) == alone[number]


@pytest.mark.slow
@settings(SOME, max_examples=3)
@given(questions())
def test_a_new_process_says_what_one_says_that_forgot(asked):
    program = "import sys; import test_any_order as t; print(t.answer(eval(sys.stdin.read())))"
    for question in asked[-3:]:
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=repr(question),
            env={"PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == fresh(question).strip()
