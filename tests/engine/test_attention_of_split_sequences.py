"""Attention over a split sequence is the attention of the whole one, in pieces that are no faster."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulator.engine.prices.assembly import assembly
from simulator.engine.step.local_clock import alone
from simulator.errors import ScenarioError
from simulator.machine import hardware
from simulator.machine.kernels import attention
from simulator.scenario import from_dict
from simulator.simulation import predict
from simulator.workload.blocks import context
from simulator.workload.blocks.attention import Attention, Full, Window
from simulator.workload.layout import Context, Parallelism
from simulator.workload.model import Model
from simulator.workload.operations import Core, Exchange
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Training
from simulator.workload.writer import Writer

H100 = hardware.gpu("h100")
MIXER = Full()
KINDS = ("ring", "all-gather", "ulysses")
LARGEST_JUMP = 0.02


def mixer(window: int | None) -> Attention:
    return Window(window=window) if window else MIXER


def attend(axis: Context, sequence: int, *, backward: bool = False, window: int | None = None, **more) -> tuple:
    """Return the attention of a rank: its operations, exchanges included."""
    shape = {"hidden": 4096, "heads": 32, "kv_heads": 32, "head_size": 128} | more
    stack = Stack(attention=shape.pop("kernel", "cudnn"), context_merge=shape.pop("merge", "fused"))
    model = Model(layers=1, vocabulary=1024, attention=mixer(window), **shape)
    rank = Rank.of(model, stack, Parallelism(context=axis), Training(sequence_length=sequence, microbatch=1))
    out = Writer(rank)
    context.attend(out, mixer(window).core(rank, backward=backward))
    return out.program()


def seconds(core: Core, gpu: hardware.Gpu = H100) -> float:
    fields = core._asdict()
    del fields["dropout"]
    return attention.time(gpu, **fields)


def kernels(program: tuple) -> float:
    return sum(one.share * seconds(one.work) for one in program if isinstance(one.work, Core))


AXES = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from([1, 2, 3, 4, 8, 16, 32]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["zigzag", "contiguous"]),
).filter(lambda axis: axis[1] % axis[2] == 0 and (axis[0] != "ulysses" or axis[2] == 1))
KERNELS = st.sampled_from(["flash-2", "flash-3", "cudnn", "unfused"])


@settings(max_examples=300)
@given(
    axis=AXES,
    tokens=st.integers(1, 4000),
    window=st.one_of(st.none(), st.integers(1, 40_000)),
    kernel=KERNELS,
    merge=st.sampled_from(["fused", "eager"]),
    heads=st.sampled_from([32, 64]),
    backward=st.booleans(),
)
def test_all_ranks_together_never_take_less_than_one(axis, tokens, window, kernel, merge, heads, backward):
    kind, size, ulysses, dealt = axis
    assume(heads % (size if kind == "ulysses" else ulysses) == 0)
    more = {"kernel": kernel, "merge": merge, "heads": heads, "kv_heads": heads, "window": window, "backward": backward}
    whole = attend(Context(), size * tokens, **more)
    split = attend(Context(size=size, kind=kind, ulysses=ulysses, tokens=dealt), size * tokens, **more)
    assert size * kernels(split) >= (1 - 1e-9) * kernels(whole)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("window", [None, 3000])
@pytest.mark.parametrize("kind", KINDS)
def test_one_rank_is_the_limit_of_every_kind(kind, window, backward):
    [core] = attend(Context(size=1, kind=kind), 8192, window=window, backward=backward)
    assert (core.work.queries, core.work.keys, core.work.causal) == (8192, 8192, True)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_long_pieces_take_what_the_whole_takes(kind, backward):
    """What is left are starts of kernels and partly filled waves of blocks."""
    for sequence, most in ((2**14, 0.15), (2**17, 0.03), (2**20, 0.005)):
        whole = kernels(attend(Context(), sequence, backward=backward))
        split = 4 * kernels(attend(Context(size=4, kind=kind), sequence, backward=backward))
        assert 1 <= split / whole < 1 + most


@pytest.mark.parametrize("size", [2, 4, 8])
def test_a_window_hides_keys_from_the_first_chunks_only(size):
    """Every chunk but those within a window of the start sees the whole window, and the middle rank has two of them."""
    sequence, window = 2**18, 2**12
    whole, part = (kernels(attend(Context(size=n, kind="all-gather"), sequence, window=window)) for n in (1, size))
    assert 1 <= size * part / whole < 1.02


def test_a_window_as_long_as_the_sequence_is_none():
    for kind in KINDS:
        axis = Context(size=4, kind=kind)
        assert kernels(attend(axis, 8192, window=8192)) == kernels(attend(axis, 8192))


@pytest.mark.parametrize("kind", ["ring", "all-gather"])
@pytest.mark.parametrize("size", [2, 4, 16])
def test_contiguous_tokens_make_the_last_rank_compute_twice_the_mean(kind, size):
    """It sees s - s/2n keys in the mean, of which the whole sequence sees s/2."""
    whole, last = (kernels(attend(Context(size=n, kind=kind, tokens="contiguous"), 2**20)) for n in (1, size))
    assert size * last / whole == pytest.approx(2 - 1 / size, rel=0.005)


# No jumps but those of the hardware: blocks of queries, waves of blocks over the multiprocessors.


def waves(core: Core) -> tuple[int, int]:
    blocks = ceil(core.queries / 128)
    return blocks, ceil(core.heads * blocks / H100.sms)


def smooth(cores: list[Core], work) -> None:
    """Check that time per unit of `work` does not jump from one core to the next where the blocks are dealt alike."""
    for one, other in pairwise(cores):
        if waves(one) == waves(other):
            assert seconds(other) / work(other) == pytest.approx(seconds(one) / work(one), rel=LARGEST_JUMP)


def core_of(**shape) -> Core:
    return Core(**{"batch": 1, "heads": 32, "kv_heads": 32, "queries": 8192, "keys": 8192, "head_size": 128} | shape)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kernel", ["flash-2", "flash-3", "cudnn"])
def test_time_does_not_jump_between_neighbouring_sequences_heads_and_windows(kernel, backward):
    fixed = {"value_size": 128, "window": None, "kernel": kernel, "dtype": "bf16", "backward": backward}
    smooth([core_of(**fixed, queries=s, keys=s) for s in range(4096, 8192, 16)], lambda core: core.keys)
    smooth([core_of(**fixed, heads=h, kv_heads=h) for h in range(64, 192)], lambda core: core.heads)
    smooth([core_of(**fixed | {"window": w}) for w in range(2048, 8448, 32)], lambda core: 1.0)


def test_a_full_block_of_queries_costs_no_less_than_a_part_of_one():
    shape = {"batch": 1, "heads": 128, "keys": 4096, "head_size": 128, "causal": False}
    part, full, more = (attention.time(H100, queries=queries, **shape) for queries in (1025, 1152, 1153))
    assert part == full < more


# Exchanges and kernels of the ring, step by step.


def ring(size: int, nic: str, backward: bool = False):
    """Return the kernels, the hop and the played time of a ring over hosts of one GPU."""
    case = from_dict(
        {
            "version": 1,
            "model": "llama-3-8b",
            "cluster": {"host": {"base": "hgx-h100", "gpus": 1, "nics": 1, "nic_bandwidth": nic}, "hosts": size},
            "stack": {"base": "megatron-core-2025", "communication_sms": 0},
            "parallelism": {"context": {"size": size}},
            "training": {"steps": 1, "sequence_length": 4096 * size, "global_batch": 1, "microbatch": 1},
        }
    )
    out = Writer(case.rank)
    context.attend(out, MIXER.core(case.rank, backward=backward))
    prices, program = assembly(case).durations, out.program()
    hops = [one for one in program if isinstance(one.work, Exchange)]
    return prices, program, hops, alone(prices.piece(program)).seconds


@pytest.mark.parametrize("nic", ["4Gbps", "100Gbps", "400Gbps", "3200Gbps"])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_step_of_a_ring_takes_the_longer_of_its_hop_and_its_kernels(size, nic):
    prices, program, hops, played = ring(size, nic)
    hop = prices.seconds(hops[0].work)
    own, *others = (prices.seconds(one.work) for one in program if isinstance(one.work, Core))
    merge = prices.seconds(next(one.work for one in program if one.name.endswith("merge")))
    other = others[-1] + merge
    alone_each = max(own, hop) + (size - 2) * max(other, hop) + other
    # Merges are bound by memory, of which hops beside them take a little.
    assert alone_each * (1 - 1e-9) <= played <= 1.02 * alone_each


def test_each_hop_of_a_ring_pays_its_latency():
    prices, _, hops, _ = ring(64, "400Gbps")
    total = sum(one.share * prices.seconds(one.work) for one in hops)
    assert total == pytest.approx(63 * prices.seconds(hops[0].work))
    at_once = prices.seconds(hops[0].work._replace(nbytes=63 * hops[0].work.nbytes))
    latency = 2 * prices.seconds(hops[0].work) - prices.seconds(hops[0].work._replace(nbytes=2 * hops[0].work.nbytes))
    assert total == pytest.approx(at_once + 62 * latency)


# Whole steps.


def step(axis: dict, *, model: object = "llama-3.1-8b", sequence: int = 65536, stack: str = "megatron-core-2024"):
    case = {
        "version": 1,
        "model": model,
        "cluster": {"host": "hgx-h100", "hosts": 1},
        "stack": stack,
        "parallelism": {"context": axis},
        "training": {"steps": 1, "sequence_length": sequence, "global_batch": 8, "recompute": "full"},
    }
    return predict(from_dict(case))


@pytest.mark.parametrize("stack", ["megatron-core-2024", "torchtitan-2025"])
@pytest.mark.parametrize("kind", KINDS)
def test_splitting_a_long_sequence_never_makes_a_step_faster(kind, stack):
    """From 1 to 2 ranks the exchanges, starts of kernels and merges come in, a few percent (Llama 3, 3.3.2)."""
    times = [step({"size": size, "kind": kind}, stack=stack).step_time_s for size in (1, 2, 4, 8)]
    assert times == sorted(times)
    assert times[1] / times[0] < 1.05


def test_heads_exchanged_inside_a_ring_lie_between_the_two():
    ring_, both, heads = (
        step(axis).step_time_s for axis in ({"size": 8}, {"size": 8, "ulysses": 4}, {"size": 8, "kind": "ulysses"})
    )
    assert heads < both < ring_


# Heads that no fused kernel takes.


def wide(head_size: int) -> dict:
    return {"layers": 4, "hidden": 2048, "heads": 8, "head_size": head_size, "vocabulary": 32000}


def test_heads_above_256_are_unfused_in_time_and_in_memory():
    fits, falls = (step({}, model=wide(size), sequence=8192) for size in (256, 288))
    asked = {"base": "megatron-core-2024", "attention": "unfused"}
    unfused = step({}, model=wide(288), sequence=8192, stack=asked)
    assert falls.step_time_s == pytest.approx(unfused.step_time_s)
    assert falls.memory.peak_bytes == pytest.approx(unfused.memory.peak_bytes)
    assert falls.step_time_s > 1.4 * fits.step_time_s
    assert falls.memory.peak_bytes > fits.memory.peak_bytes


def test_heads_above_256_and_a_split_sequence_are_refused():
    with pytest.raises(ScenarioError, match="heads of 288 need unfused attention"):
        step({"size": 2}, model=wide(288), sequence=8192)
