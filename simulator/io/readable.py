"""How a quantity is written for a person: a few digits, and the unit one would say.

Bytes of memory are GiB (2^30), as tools on a GPU print them; bytes on a wire are GB (10^9).
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isfinite, log10

from simulator.outcome.results import Distribution
from simulator.units import Bytes, BytesPerSecond, Dollars, FlopsPerSecond, Joules, Number, Seconds, Share

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
_UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": MINUTE, "h": HOUR, "days": DAY}
NO_PROGRESS = "failures undo the work faster than it is done"
"""Why a run never ends: recoveries longer than the time between failures, no saves, or none kept that is old enough."""
CONVENTIONS = {
    "6n": "6N a token",
    "causal": "6N + causal attention",
    "full": "6N + full attention",
}
"""What each convention of model FLOPs counts a token: 6N, 6N + 6Lsh, 6N + 12Lsh."""


def digits(value: Number, count: int = 3) -> str:
    """Return `value` with `count` significant digits, never with an exponent.

    >>> digits(3.14159), digits(27182.8), digits(0.00123456), digits(0.0)
    ('3.14', '27,183', '0.00123', '0')
    """
    if not isfinite(value):
        return "never" if value > 0 else "unknown"
    if value == 0:
        return "0"
    places = count - 1 - floor(log10(abs(value)))
    if places > 0 and round(abs(value), places) >= 10.0 ** (count - places):
        places -= 1
    return f"{value:,.{max(places, 0)}f}"


def duration(seconds: Seconds) -> str:
    """Return a time in the unit one would say.

    >>> duration(0.0123), duration(6.48), duration(480), duration(6.03e6)
    ('12.3 ms', '6.48 s', '8.00 min', '69.8 days')
    """
    if not isfinite(seconds):
        return "never"
    for unit, size, upto in (("µs", 1e-6, 1e-3), ("ms", 1e-3, 1.0), ("s", 1.0, 2 * MINUTE), ("min", MINUTE, 2 * HOUR)):
        if abs(seconds) < upto and seconds != 0:
            return f"{digits(seconds / size)} {unit}"
    if seconds == 0:
        return "0 s"
    return f"{digits(seconds / HOUR)} h" if abs(seconds) < 2 * DAY else f"{digits(seconds / DAY)} days"


def duration_like(total: Seconds) -> Callable[[Seconds], str]:
    """Return a writer of the parts of `total`, all in its unit, to the same digit.

    >>> [duration_like(6.48)(part) for part in (4.25, 0.72, 0.0003)]
    ['4.25 s', '0.72 s', '< 0.01 s']
    """
    number, _, unit = duration(total).partition(" ")
    if unit not in _UNITS:
        return duration
    places = max(len(number.partition(".")[2]), 2)

    def write(part: Seconds) -> str:
        smallest = 10.0**-places
        value = part / _UNITS[unit]
        return f"< {smallest:.{places}f} {unit}" if 0 < value < smallest / 2 else f"{value:,.{places}f} {unit}"

    return write


def memory(size: Bytes) -> str:
    """Return bytes of memory.

    >>> memory(85.52e9), memory(0.31e12), memory(5.5e6)
    ('79.6 GiB', '289 GiB', '5.25 MiB')
    """
    for unit, power in (("KiB", 10), ("MiB", 20), ("GiB", 30)):
        if abs(size) < 1000 * 2.0**power:
            return f"{digits(size / 2.0**power)} {unit}"
    return f"{digits(size / 2.0**40)} TiB"


def prefixed(value: Number, unit: str = "") -> str:
    """Return `value` with a decimal prefix.

    >>> prefixed(50e9, "B/s"), prefixed(400e12, "FLOP/s"), prefixed(15.6e12), prefixed(2048)
    ('50.0 GB/s', '400 TFLOP/s', '15.6T', '2,048')
    """
    if not unit and abs(value) < 1e4:
        return digits(value, 4) if value != round(value) else f"{value:,.0f}"
    names = ("", "k", "M", "G", "T", "P", "E") if unit else ("", "k", "M", "B", "T")
    step = 0 if value == 0 or not isfinite(value) else min(max(floor(log10(abs(value)) / 3 + 1e-12), 0), len(names) - 1)
    space = " " if unit else ""
    return f"{digits(value / 1000.0**step)}{space}{names[step]}{unit}"


def rate(speed: BytesPerSecond) -> str:
    return prefixed(speed, "B/s")


def flops(speed: FlopsPerSecond) -> str:
    """Return FLOP/s of one GPU, in the unit of its data sheet.

    >>> flops(989.5e12)
    '990 TFLOP/s'
    """
    return f"{digits(speed / 1e12)} TFLOP/s"


def percent(share: Share) -> str:
    """Return a share.

    >>> percent(0.404), percent(0.0006), percent(1.0), percent(0.9996)
    ('40.4%', '0.06%', '100%', '99.96%')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    places = 2 if share < 0.001 or 0.999 < share < 1 else 1
    return f"{100 * share:.{places}f}%"


def chance(probability: Share) -> str:
    """Return a probability, which nobody knows to a digit after the point.

    >>> chance(0.386), chance(0.9998), chance(0.004), chance(1.0)
    ('39%', '> 99%', '< 1%', '100%')
    """
    if 0 < probability < 0.01:
        return "< 1%"
    return "> 99%" if 0.99 < probability < 1 else f"{probability:.0%}"


def dollars(amount: Dollars) -> str:
    """Return money.

    >>> dollars(76.56e6), dollars(2.5), dollars(4210)
    ('$76.6M', '$2.50', '$4,210')
    """
    if abs(amount) < 1000:
        return f"${amount:,.2f}"
    return f"${amount:,.0f}" if abs(amount) < 1e5 else f"${prefixed(amount)}"


def energy(work: Joules) -> str:
    """Return energy, as it is billed.

    >>> energy(1.07e14), energy(3.6e6)
    ('29.7 GWh', '1.00 kWh')
    """
    return prefixed(work / HOUR, "Wh")


def mass(kilograms: Number) -> str:
    """Return a mass of CO2.

    >>> mass(9.9e6), mass(12.0)
    ('9.90 kt', '12.0 kg')
    """
    return prefixed(kilograms / 1000, "t") if kilograms >= 1000 else f"{digits(kilograms)} kg"


def convention(name: str) -> str:
    """Return what a convention of model FLOPs counts, in short.

    >>> convention("causal"), convention("6N + causal attention (6Lsh) a token, over the dense peak")
    ('6N + causal attention', '6N + causal attention')
    """
    return CONVENTIONS.get(name) or name.partition(" (")[0].partition(",")[0]


def spread(distribution: Distribution, write: Callable[[float], str]) -> str:
    """Return P10, P50 and P90, each written by `write`."""
    return " / ".join(write(value) for value in (distribution.p10, distribution.p50, distribution.p90))
