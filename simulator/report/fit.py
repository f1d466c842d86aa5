"""Whether it fits, in words: the verdict, its margin and its reason, and what to change."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Protocol

from simulator.io.readable import chance, digits, duration, memory
from simulator.outcome.host_memory import Offloaded, host_is_fuller
from simulator.outcome.results import STAGE_PARTS, Advice
from simulator.units import Bytes, Share

GIB = 2.0**30
WORDS = {"fits": "Fits", "tight": "Tight", "oom": "Does not fit"}


class Held(Offloaded, Protocol):
    """What is known of memory, by an estimate or in a result."""

    @property
    def p_fits(self) -> Share: ...
    @property
    def worst_stage(self) -> int: ...
    @property
    def stages(self) -> tuple[dict[str, float], ...]: ...


def need(held: Held, verdict: str) -> str:
    """Return what the worst stage needs, of how much, and how likely that is enough; or a host, if that is fuller."""
    if host_is_fuller(held):
        return f"a host needs {_of(held.host_peak_bytes, held.host_bytes)} for what is offloaded, " + (
            f"P(fits) {chance(held.p_fits)}"
        )
    return (
        f"stage {held.worst_stage} needs {_of(held.peak_bytes, held.usable_bytes)}, {margin(held, verdict)}, "
        f"P(fits) {chance(held.p_fits)}"
    )


def margin(held: Held, verdict: str) -> str:
    """Return what is left of the memory, in words that go with the verdict: what is left may be too little."""
    left = held.usable_bytes - held.peak_bytes
    if left < 0:
        return f"{memory(-left)} too much"
    return {"fits": f"{memory(left)} to spare", "tight": f"{memory(left)} left"}.get(
        verdict, f"only {memory(left)} left"
    )


def reason(held: Held) -> str:
    """Return the largest part of the worst stage, or what would empty a host that is fuller."""
    if host_is_fuller(held):
        return "which less offload or a larger cluster.host.memory would change"
    worst = held.stages[held.worst_stage]
    part = max(STAGE_PARTS, key=lambda name: worst[f"{name}_bytes"])
    return f"most of it {part}, {memory(worst[f'{part}_bytes'])}"


def gains(one: Advice) -> str:
    """Return what a change gives and what it costs."""
    return (
        f"P(fits) {chance(one.p_fits)}, {_of(one.peak_bytes, one.usable_bytes)}, "
        f"step {duration(one.step_time_s)} ({_signed(one.time)}), rent {_signed(one.cost)}"
    )


def command(one: Advice) -> str:
    """Return a change as options of the command line.

    >>> from types import SimpleNamespace
    >>> command(SimpleNamespace(settings=("a.b=2", "c={kind: full, layers: 2}")))
    "--set a.b=2 --set 'c={kind: full, layers: 2}'"
    """
    return " ".join(f"--set {shlex.quote(setting)}" for setting in one.settings)


def lines(advice: Sequence[Advice]) -> list[str]:
    """Return the advice as lines for a terminal: what to change, what that gives, and below it how it is written."""
    width = max((len(one.change) for one in advice), default=0)
    return [line for one in advice for line in (f"{one.change:{width}}  {gains(one)}", f"  {command(one)}")]


def _of(part: Bytes, whole: Bytes) -> str:
    """Return a part of the memory there is.

    >>> _of(10 * GIB, 80 * GIB), _of(2000 * GIB, 80 * GIB)
    ('10.0 of 80.0 GiB', '1.95 TiB of 80.0 GiB')
    """
    texts = memory(part), memory(whole)
    return f"{digits(part / GIB)} of {texts[1]}" if all(text.endswith("GiB") for text in texts) else " of ".join(texts)


def _signed(share: Share) -> str:
    """Return a change of a quantity.

    >>> _signed(0.0), _signed(-0.053), _signed(20.86), _signed(0.0004)
    ('+0%', '-5%', 'x 21.9', '+0%')
    """
    return f"x {digits(1 + share)}" if share >= 1 else f"{round(100 * share) + 0:+.0f}%"
