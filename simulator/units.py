"""The units of every number inside: plain floats in SI, named by these annotations.

A field annotated ``Seconds`` is a float in seconds. ``parse`` turns what people write, such as ``30min``
or ``400Gbps``, into that float and ``render`` turns it back; no other code converts units. ``b`` is a bit
and ``B`` a byte, ``G`` is 10^9 and ``Gi`` 2^30, a year has 365 days.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import cache, lru_cache
from typing import Annotated

Seconds = Annotated[float, "s"]
Bytes = Annotated[float, "B"]
BytesPerSecond = Annotated[float, "B/s"]
Flops = Annotated[float, "FLOP"]
FlopsPerSecond = Annotated[float, "FLOP/s"]
Watts = Annotated[float, "W"]
Joules = Annotated[float, "J"]
Dollars = Annotated[float, "$"]
DollarsPerHour = Annotated[float, "$/h"]
DollarsPerKilowattHour = Annotated[float, "$/kWh"]
KilogramsPerKilowattHour = Annotated[float, "kg/kWh"]
Share = Annotated[float, "share"]
"""A part of a whole, written ``8%`` or ``0.08``."""
Count = Annotated[int, "count"]
"""A whole number, written ``2048`` or ``15.6T``."""
Number = Annotated[float, "number"]
"""A plain number without a unit, such as a factor or a shape."""

FACTORS: dict[str, dict[str, float]] = {
    "s": {
        **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
        **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
        **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
        **dict.fromkeys(("d", "day", "days"), 86400.0),
        **dict.fromkeys(("week", "weeks"), 7 * 86400.0),
        **dict.fromkeys(("y", "year", "years"), 365 * 86400.0),
    },
    "B": dict.fromkeys(("B", "byte", "bytes"), 1.0),
    "B/s": {
        **dict.fromkeys(("B/s", "Bps"), 1.0),
        **dict.fromkeys(("b/s", "bps", "bit/s", "bits/s"), 1 / 8),
    },
    "FLOP": dict.fromkeys(("FLOP", "FLOPs"), 1.0),
    "FLOP/s": dict.fromkeys(("FLOP/s", "FLOPS", "FLOPs", "FLOPs/s", "OPS", "OP/s"), 1.0),
    "W": {"W": 1.0},
    "J": {"J": 1.0, "Wh": 3600.0},
    "$": {"$": 1.0, "USD": 1.0},
    "$/h": {**dict.fromkeys(("$", "$/h", "$/hr", "$/hour", "USD/h"), 1.0), "$/d": 1 / 24, "$/day": 1 / 24},
    "$/kWh": {"$/kWh": 1.0, "USD/kWh": 1.0, "$/MWh": 1e-3},
    "kg/kWh": {"g/kWh": 1e-3, "g/MWh": 1e-6, "t/MWh": 1.0},
    "share": {"": 1.0, "%": 0.01},
    "count": {"": 1.0, "B": 1e9, **dict.fromkeys(("step", "steps", "token", "tokens", "sequences"), 1.0)},
    "number": {"": 1.0, "%": 0.01},
}
"""For each unit of a field, the units that may be written and how many of the field's unit each is."""

EXPECTED = {
    "s": "a time such as `30s`, `30min`, `24h` or `54d`",
    "B": "a size such as `80GiB` or `80GB`",
    "B/s": "a bandwidth such as `400Gbps` (bits) or `50GB/s` (bytes)",
    "FLOP": "an amount of work such as `6.3e24FLOP`",
    "FLOP/s": "a rate such as `989TFLOPS`",
    "W": "a power such as `700W`",
    "J": "an energy such as `1kWh` or `1MJ`",
    "$": "an amount of money such as `$2.50` or `$100M`",
    "$/h": "a price an hour such as `$2.50`",
    "$/kWh": "a price such as `$0.08/kWh`",
    "kg/kWh": "an intensity such as `0.4kg/kWh`",
    "share": "a share such as `8%` or `0.08`",
    "count": "a whole number such as `2048` or `15.6T`",
    "number": "a number such as `1.1`",
}
_WHOLE = ("min", "h", "d")
_MINUTES = ("min", "mins", "minute", "minutes")
_DOLLARS = re.compile(r"\$\s*(?P<amount>[0-9._]+(?:[eE][-+]?[0-9]+)?)\s*(?P<scale>[kKMGTB]?)(?P<per>/\w+)?")
_RATIO = re.compile(r"(?P<left>1(?=\s*:)|[0-9.]+(?=\s*:\s*1$))\s*:\s*(?P<right>[0-9.]+)")
"""One to something or something to one, as oversubscription is written: ``1:7`` and ``7:1`` are both 7."""
_LONGEST = 100
"""Letters of a number with its unit; it is taken apart in a time that grows with their square."""
_MOST_DIGITS = 30
_LARGEST = 1e40


def whole(text: str) -> int | None:
    """Return the whole number that up to 30 digits from 0 to 9 write; None for any other text.

    >>> whole("12"), whole("-1"), whole("²"), whole("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


@lru_cache(maxsize=65536)
def parse(text: str, unit: str) -> float:
    """Return the number that `text` says, in `unit`; a ValueError says what to write instead.

    >>> parse("30min", "s"), parse("400Gbps", "B/s"), parse("8%", "share"), parse("15.6T", "count")
    (1800.0, 50000000000.0, 0.08, 15600000000000)
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise ValueError(f"`{text[:20]}...` is too long for a number; write {EXPECTED[unit]}")
    if unit == "count" and (counted := whole(text)) is not None:
        return counted
    if unit == "number" and (ratio := _RATIO.fullmatch(text)):
        text = ratio["right"] if ratio["left"] == "1" else ratio["left"]
    number, written = _split(text, unit)
    factor = FACTORS[unit].get(written)
    if factor is None:
        raise ValueError(_wrong_unit(text, written, unit))
    value = number / 100 if written == "%" else number * factor
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise ValueError(f"`{text}` is beyond any number that makes sense here; write {EXPECTED[unit]}")
    if value < 0:
        raise ValueError(f"`{text}` is negative; write {EXPECTED[unit]}")
    if unit == "share" and value > 1:
        raise ValueError(f"`{text}` is more than the whole; write a share of at most 1, such as `8%` or `0.08`")
    if unit == "count":
        if value != round(value):
            raise ValueError(f"`{text}` is not a whole number; write one such as `{max(1, round(value))}`")
        return round(value)
    return value


@lru_cache(maxsize=65536)
def render(value: float, unit: str) -> str:
    """Return the text with the fewest digits that ``parse`` reads as exactly `value`.

    >>> render(1800.0, "s"), render(85899345920.0, "B"), render(0.08, "share"), render(2.5, "$")
    ('30min', '80GiB', '8%', '$2.50')
    """
    plain = repr(value).removesuffix(".0")
    if unit in ("count", "number"):
        return plain
    texts = [text for text in _spellings(value, unit) if len(text) < 16 and parse(text, unit) == value]
    exact = f"${plain}{unit[1:]}" if unit.startswith("$") else plain + _EXACT.get(unit, _WRITTEN[unit][0][0])
    return min(texts, key=_digits, default=exact)


def _digits(text: str) -> tuple[int, int]:
    """Return how hard a spelling is to read: its digits, two for a decimal point, then its length."""
    return sum(map(str.isdigit, text)) + 2 * ("." in text), len(text)


_WRITTEN: dict[str, tuple[tuple[str, float], ...]] = {
    "s": (("s", 1), ("min", 60), ("h", 3600), ("d", 86400), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "B": (
        *(("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15)),
        *(("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)),
    ),
    "B/s": (("B/s", 1), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)),
    "FLOP": (("FLOP", 1),),
    "FLOP/s": (("FLOPS", 1), ("GFLOPS", 1e9), ("TFLOPS", 1e12), ("PFLOPS", 1e15)),
    "W": (("W", 1), ("kW", 1e3), ("MW", 1e6)),
    "J": (("J", 1), ("kWh", 3.6e6), ("MWh", 3.6e9)),
    "kg/kWh": (("kg/kWh", 1),),
    "share": (("", 1), ("%", 0.01)),
}
_EXACT = {"kg/kWh": "t/MWh"}
"""What to write where the usual spelling rounds, because of its prefix."""


def _spellings(value: float, unit: str) -> list[str]:
    if unit.startswith("$"):
        scales = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)) if value >= 1e4 else (("", 1.0),)
        return [f"${value / scale:{'.2f' if scale == 1 else '.10g'}}{name}{unit[1:]}" for name, scale in scales]
    scaled = [(f"{value / factor:.10g}", name) for name, factor in _WRITTEN[unit]]
    return [number + name for number, name in scaled if "e" not in number and not ("." in number and name in _WHOLE)]


def _split(text: str, unit: str) -> tuple[float, str]:
    """Return the number in `text`, its prefix applied, and the unit written behind it."""
    if match := _DOLLARS.fullmatch(text):
        scale = match["scale"].replace("B", "G")
        text, written = f"{match['amount']}{scale}", "$" + (match["per"] or "")
    else:
        written = ""
    if not re.match(r"[-+]?\.?[0-9]", text):
        raise ValueError(f"`{_short(text)}` is not {EXPECTED[unit]}")
    text = _without_exponent(text)
    if ":" in text or "=" in text:
        raise ValueError(f"`{_short(text)}` is not {EXPECTED[unit]}")
    if "," in text:
        raise ValueError(f"`{_short(text)}` has a comma; write `{_short(text.replace(',', ''))}`")
    if re.fullmatch(r"[-+]?[0-9._]+\s*m", text):
        raise ValueError(f"`{text}` is ambiguous: `m` is no unit; write `{text[:-1].strip()}min` for minutes")
    try:
        quantity = _quantity()(text)
    except ValueError:
        raise ValueError(f"`{_short(text)}` is not {EXPECTED[unit]}") from None
    return float(quantity), written or quantity.units


def _without_exponent(text: str) -> str:
    """Return ``1e3GB`` as ``1000GB``: behind an exponent a prefix would not be read."""
    found = re.fullmatch(r"([-+]?[0-9.]+[eE][-+]?[0-9]{1,3})(\s*[^\s0-9].*)", text)
    try:
        return f"{Decimal(found[1]):f}{found[2]}" if found else text
    except ArithmeticError:
        return text


@cache
def _quantity() -> type:
    from quantiphy import Quantity

    class Written(Quantity):
        """A quantity as people write it; only the prefixes that a training run needs."""

    Written.set_prefs(known_units=list(_MINUTES), input_sf="EPTGMKkmuµn", accept_binary=True)
    return Written


def _wrong_unit(text: str, written: str, unit: str) -> str:
    shown = _short(text)
    if not written:
        return f"`{shown}` has no unit; write {EXPECTED[unit]}"
    if unit == "B" and written in ("b", "bit", "bits"):
        return f"`{shown}` is a number of bits; write bytes, such as `{shown.replace(written, 'B')}`"
    for other, factors in FACTORS.items():
        if written in factors and other not in ("count", "share"):
            return f"`{shown}` is {EXPECTED[other].split(' such')[0]}; write {EXPECTED[unit]}"
    if unit in ("count", "number", "share"):
        return f"`{shown}` is not {EXPECTED[unit]}"
    guess = _other_case(text, unit)
    return f"`{shown}` has an unknown unit; " + (f"did you mean `{guess}`?" if guess else f"write {EXPECTED[unit]}")


def _other_case(text: str, unit: str) -> str | None:
    """Return `text` with the unit in the case that is known, such as ``GB`` for ``gb``."""
    number = re.match(r"[-+0-9._eE]*[0-9.]\s*", text)
    if number is None:
        return None
    behind = text[number.end() :]
    prefixes = ("", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti")
    known = [prefix + name for name in FACTORS[unit] for prefix in prefixes]
    alike = [name for name in known if name.lower() == behind.lower()]
    best = max(alike, key=lambda name: sum(a == b for a, b in zip(name, behind, strict=True)), default=None)
    return number[0] + best if best else None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:37]}..."
