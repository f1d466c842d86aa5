"""The section on the network: how busy each class of links is, and from what bandwidth on more is no use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.io.readable import duration, percent, prefixed, rate
from simulator.outcome.results import Result, TransferResult
from simulator.plots import colours
from simulator.plots import network as picture
from simulator.report.section import Fact, Part, Section


def section(result: Result) -> Section | None:
    links = result.step.links
    if not links:
        return None
    joined = {link["name"]: words.partition(",")[0] for link, words in zip(links, picture.words(links), strict=True)}
    busiest = max(links, key=lambda link: link["busy_share"])
    return Section(
        name="network",
        title="Network",
        answer=f"the busiest links, {joined[busiest['name']]}, are busy {percent(busiest['busy_share'])} of the step",
        parts=tuple(
            Part(
                label=f"{joined[link['name']]}, {rate(link['bandwidth_bytes_per_s'])}",
                value=prefixed(link["bytes"], "B"),
                share=link["busy_share"],
                colour=colours.ORANGE,
            )
            for link in links
        ),
        facts=(
            *_means(links, joined),
            *(_transfer(one, joined) for one in result.step.transfers),
            *_hashed(result.step.hashed),
        ),
        pictures=("network",),
    )


def _means(links: tuple[dict[str, Any], ...], joined: Mapping[str, str]) -> Iterator[Fact]:
    """Yield the mean load of classes whose links are not alike."""
    for link in links:
        if picture.uneven(link):
            yield Fact(
                label="mean", value=percent(picture.mean(link)), note=f"of the step, links {joined[link['name']]}"
            )


def _transfer(one: TransferResult, joined: Mapping[str, str]) -> Fact:
    exposed = f"{duration(one.exposed_s)} exposed" if one.exposed_s > 0 else "hidden"
    sent = f"{prefixed(one.bytes, 'B')} a GPU, {joined.get(one.links, one.links)}, at {rate(one.bandwidth_bytes_per_s)}"
    return Fact(label=one.part, value=exposed, note=f"{sent}; {_enough(one)}")


def _hashed(step: dict[str, float]) -> Iterator[Fact]:
    """Yield what collisions of hashed flows do to the step."""
    if step:
        best, median, worst = (step[name] for name in ("p10_s", "p50_s", "p90_s"))
        note = "longer takes the step at P90 than at P10 of how flows are hashed onto links"
        yield Fact(label="collisions", value=percent(worst / best - 1), note=f"{note}, {duration(median)} at P50")


def _enough(one: TransferResult) -> str:
    """Return the bandwidth from which more is no use; none may be found, or none was looked for."""
    needed = one.hidden_at_bytes_per_s
    if needed is None:
        return "no bandwidth is known from which more would save under 1% of the step"
    return f"from {rate(needed)} on, more would save under 1% of the step"
