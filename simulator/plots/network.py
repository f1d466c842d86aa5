"""How busy each class of links is during a step, drawn as the tiers of the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.io.readable import percent, prefixed, rate
from simulator.outcome.results import Result
from simulator.plots import colours
from simulator.plots.names import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (9.0, 4.8)
WIDTH = 10.0
LOAD = (colours.PALE_GREY, colours.ORANGE, colours.VERMILLION)
"""Colours of links from idle over half busy to always busy."""
SCALE_UP = "scale-up"
ABOVE = {
    "nic": "switch",
    "leaf": "spine",
    "spine": "core",
    "local": "group",
    "global": "groups",
    "torus": "torus",
    "link": "router",
}
"""What the links of a class lead to, going up."""
WORDS = {
    SCALE_UP: "scale-up, inside a host",
    "leaf": "leaf to spine",
    "spine": "spine to core",
    "local": "router to router, in a group",
    "global": "group to group",
    "torus": "neighbour to neighbour",
    "link": "router to router",
}
UNEVEN = 1.05
"""Peak over mean load of a class from which the mean is told too."""
DRAWN = (8, 4, 3, 2)
"""Hosts, leaves, spines, cores that stand for all of them."""


def applies(result: Result) -> bool:
    return len(result.step.links) > 0


def draw(result: Result, axes: Axes) -> Axes:
    """Draw hosts at the bottom and a row of switches for each class of links, coloured by how busy it is."""
    links = list(result.step.links)
    inside = links[0] if links and links[0]["name"] == SCALE_UP else None
    outside = [link for link in links if link is not inside]
    _hosts(axes, inside)
    for tier, link in enumerate(outside, start=1):
        following = outside[tier]["name"] if tier < len(outside) else ""
        _tier(axes, tier, link, following)
        _legend(axes, tier - 0.5, link, _words(link, following))
    if inside:
        _legend(axes, -0.18, inside, WORDS[SCALE_UP])
    axes.set_xlim(-1.0, WIDTH + 6.2)
    axes.set_ylim(-0.75, max(len(outside), 2) + 0.45)
    axes.set_axis_off()
    axes.set_title(_title(links, outside))
    return axes


def _places(tier: int) -> list[float]:
    count = DRAWN[min(tier, len(DRAWN) - 1)]
    return [WIDTH * (place + 0.5) / count for place in range(count)]


def _hosts(axes: Axes, inside: dict[str, Any] | None) -> None:
    """Draw hosts with four GPUs each; inside, the scale-up links between GPUs and their switch."""
    from matplotlib.patches import FancyBboxPatch, Rectangle

    for middle in _places(0):
        box = FancyBboxPatch((middle - 0.48, -0.42), 0.96, 0.46, boxstyle="round,pad=0,rounding_size=0.06")
        box.set(facecolor=colours.FAINT, edgecolor=colours.GREY, linewidth=0.8)
        axes.add_patch(box)
        for gpu in range(4):
            left = middle + (gpu - 1.5) * 0.22
            if inside:
                axes.plot([left, left], [-0.27, -0.06], **_stroke(inside), zorder=2)
            axes.add_patch(Rectangle((left - 0.07, -0.37), 0.14, 0.11, color=colours.DARK_GREY, zorder=3))
        if inside:
            axes.add_patch(Rectangle((middle - 0.42, -0.09), 0.84, 0.07, color=colours.DARK_GREY, zorder=3))
    axes.text(WIDTH / 2, -0.52, "hosts with their GPUs", ha="center", va="top", fontsize=9)


def _tier(axes: Axes, tier: int, link: dict[str, Any], following: str) -> None:
    """Draw the switches of `tier` and the links down from them."""
    from matplotlib.patches import FancyBboxPatch

    alone = tier == 1 and not following
    above, below = [WIDTH / 2] if alone else _places(tier), _places(tier - 1)
    bottom = tier - 1 + (0.04 if tier == 1 else 0.11)
    for place, x in enumerate(below):
        uplinks = [above[place * len(above) // len(below)]] if tier == 1 else above
        for to in uplinks:
            axes.plot([x, to], [bottom, tier - 0.11], **_stroke(link), zorder=1, solid_capstyle="round")
    for x in above:
        box = FancyBboxPatch((x - 0.62, tier - 0.11), 1.24, 0.22, boxstyle="round,pad=0,rounding_size=0.05")
        box.set(facecolor=colours.PAPER, edgecolor=colours.DARK_GREY, linewidth=1.0, zorder=3)
        axes.add_patch(box)
        axes.text(x, tier - 0.005, _switch(link, following), ha="center", va="center", fontsize=8, zorder=4)


def _legend(axes: Axes, height: float, link: dict[str, Any], words: str) -> None:
    """Write beside the links what they are, how many, how fast, and how busy."""
    from matplotlib.patches import Rectangle

    left, busy = WIDTH + 0.9, min(max(link["busy_share"], 0.0), 1.0)
    axes.text(left, height + 0.17, words, va="center", fontsize=10, weight="bold")
    counted = f"{prefixed(link['count'])} links of {rate(link['bandwidth_bytes_per_s'])}"
    axes.text(left, height - 0.01, counted, va="center", fontsize=9)
    axes.add_patch(Rectangle((left, height - 0.2), 3.0, 0.09, color=colours.FAINT))
    axes.add_patch(Rectangle((left, height - 0.2), 3.0 * busy, 0.09, color=_load(busy)))
    said = f"busy {percent(link['busy_share'])}"
    if uneven(link):
        said += f", mean {percent(mean(link))}"
    axes.text(left + 3.15, height - 0.155, said, va="center", fontsize=9)


def _stroke(link: dict[str, Any]) -> dict[str, Any]:
    busy = min(max(link["busy_share"], 0.0), 1.0)
    return {"color": _load(busy), "linewidth": 1.0 + 3.0 * busy}


def _load(busy: float) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("load", LOAD)(busy)


def _switch(link: dict[str, Any], following: str) -> str:
    """Return what is at the upper end of `link`: where the next class begins at a leaf, a leaf."""
    if link["name"] == "nic" and following:
        return "leaf" if following == "leaf" else "router"
    return ABOVE.get(link["name"], named(link["name"]))


def uneven(link: dict[str, Any]) -> bool:
    """Tell whether the busiest link of a class carries visibly more than the others."""
    return bool(link["bytes"] > UNEVEN * link["mean_bytes"] > 0)


def mean(link: dict[str, Any]) -> float:
    """Return the share of the step that links of a class are busy in the mean."""
    return float(link["busy_share"] * link["mean_bytes"] / link["bytes"]) if link["bytes"] else 0.0


def words(links: Sequence[dict[str, Any]]) -> list[str]:
    """Return what each class of links joins."""
    names = [link["name"] for link in links]
    return [_words(link, following) for link, following in zip(links, [*names[1:], ""], strict=True)]


def _words(link: dict[str, Any], following: str) -> str:
    """Return what a class of links joins."""
    return (
        f"nic to {_switch(link, following)}" if link["name"] == "nic" else WORDS.get(link["name"], named(link["name"]))
    )


def _title(links: list[dict[str, Any]], outside: list[dict[str, Any]]) -> str:
    if not links:
        return "No links"
    busiest = max(links, key=lambda link: link["busy_share"])
    words = _words(busiest, outside[1]["name"] if len(outside) > 1 else "")
    return f"Busiest links: {words}, {percent(busiest['busy_share'])} of the step"
