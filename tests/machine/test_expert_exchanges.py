"""Kernels that carry tokens to experts: what sets their time, and times that were measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.machine.channel import Channel
from simulator.machine.collectives import experts
from simulator.machine.collectives.experts import Rows
from simulator.machine.collectives.links import fabric
from simulator.machine.hardware import gpu

H100, B200 = gpu("h100-sxm-80gb"), gpu("b200")
HOPPER = Channel(ranks=8, ranks_per_host=8, scale_up_bandwidth=450e9, fabric="nvlink4")
BLACKWELL = Channel(ranks=8, ranks_per_host=8, scale_up_bandwidth=900e9, fabric="nvlink5")
LIBRARIES = {
    "deepep": ("dispatch", "combine"),
    "deepep-low-latency": ("dispatch", "combine"),
    "nvlink-two-sided": ("prepare", "dispatch", "combine", "combine_low_precision"),
    "nvlink-one-sided": ("dispatch", "combine"),
}
PHASES = [(library, phase) for library, phases in LIBRARIES.items() for phase in phases]


def rows(tokens: float, copies: float = 5.3, row: float = 7392.0, count: int = 256) -> Rows:
    return Rows(tokens, copies, row, count, tokens * copies * row * 7 / 8)


@pytest.mark.parametrize(("library", "phase"), PHASES)
@given(tokens=st.floats(1, 1e6), sms=st.integers(1, 132))
def test_more_tokens_and_fewer_multiprocessors_are_never_faster(library, phase, tokens, sms):
    kernel = experts.kernel(library, phase, "hopper")
    alone = experts.seconds(kernel, rows(tokens), HOPPER, H100, sms)
    assert experts.seconds(kernel, rows(2 * tokens), HOPPER, H100, sms) >= alone
    assert experts.seconds(kernel, rows(tokens), HOPPER, H100, sms + 1) <= alone
    assert alone >= rows(tokens).up / HOPPER.scale_up_bandwidth


@pytest.mark.parametrize("phase", ["dispatch", "combine"])
def test_many_multiprocessors_leave_the_links_as_the_limit(phase):
    """The share of links is that of an all-to-all of NCCL."""
    kernel, many = experts.kernel("deepep", phase, "hopper"), rows(1e7)
    seconds = experts.seconds(kernel, many, HOPPER, H100, 132)
    links = many.up / (fabric("nvlink4").all_to_all * 450e9)
    assert links < seconds < 1.35 * links


def test_one_token_takes_the_start():
    for library, phase in PHASES:
        kernel = experts.kernel(library, phase, "blackwell")
        start = kernel.start + 3 * kernel.hop + 256 * kernel.expert
        assert experts.seconds(kernel, rows(0.0), BLACKWELL, B200, 24) == pytest.approx(start)


@pytest.mark.parametrize(("count", "taken"), [(8, 8), (128, 128), (256, 128), (384, 128), (512, 128)])
def test_low_latency_takes_blocks_for_whole_groups_of_experts(count, taken):
    kernel = experts.kernel("deepep-low-latency", "dispatch", "hopper")
    assert experts.multiprocessors(kernel, count, H100, 0) == taken


def test_a_kernel_takes_what_it_is_given_or_its_default():
    kernel = experts.kernel("deepep", "dispatch", "hopper")
    assert experts.multiprocessors(kernel, 256, H100, 12) == 12
    assert experts.multiprocessors(kernel, 256, H100, 0) == experts.DEFAULT_SMS
    assert experts.multiprocessors(kernel, 256, H100, 1000) == H100.sms


def test_an_architecture_that_was_not_measured_has_the_constants_of_hopper():
    assert experts.kernel("deepep", "combine", "ampere") == experts.kernel("deepep", "combine", "hopper")
    assert experts.kernel("deepep", "combine", "blackwell") != experts.kernel("deepep", "combine", "hopper")


@pytest.mark.parametrize(
    ("phase", "sms", "tokens", "machine", "microseconds"),
    [
        ("dispatch", 24, 1, "hopper", 26.2),
        ("dispatch", 24, 128, "hopper", 48.6),
        ("dispatch", 24, 4096, "hopper", 498.4),
        ("dispatch", 8, 16384, "hopper", 4526.8),
        ("dispatch", 24, 16384, "blackwell", 1637.2),
        ("combine", 24, 1, "blackwell", 54.2),
        ("combine", 24, 2048, "hopper", 526.2),
        ("combine", 16, 16384, "hopper", 3979.7),
        ("combine", 8, 16384, "blackwell", 7156.6),
    ],
)
def test_times_of_deepep_on_one_host(phase, sms, tokens, machine, microseconds):
    """256 experts, 8 a token, 7168 wide: github:ai-dynamo/aiconfigurator@095f58a; within 20%."""
    channel, card = (HOPPER, H100) if machine == "hopper" else (BLACKWELL, B200)
    row = 7168 * (2.0 if phase == "combine" else 1 + 4 / 128)
    kernel = experts.kernel("deepep", phase, machine)
    found = experts.seconds(kernel, rows(tokens, 5.3, row), channel, card, sms) * 1e6
    assert found == pytest.approx(microseconds, rel=0.2)
