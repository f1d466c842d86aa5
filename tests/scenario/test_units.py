"""Quantities as people write them, and back."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.units import EXPECTED, FACTORS, parse, render

MAGNITUDES = st.floats(min_value=0, max_value=1e30, allow_nan=False, allow_subnormal=False)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("30min", "s", 30 * 60),
        ("1:7", "number", 7),
        ("7:1", "number", 7),
        ("1.5 : 1", "number", 1.5),
        ("24h", "s", 24 * 3600),
        ("54d", "s", 54 * 86400),
        ("250us", "s", 250e-6),
        ("2 weeks", "s", 14 * 86400),
        ("400Gbps", "B/s", 400e9 / 8),
        ("400Gb/s", "B/s", 400e9 / 8),
        ("50GB/s", "B/s", 50e9),
        ("80GiB", "B", 80 * 2**30),
        ("80GB", "B", 80e9),
        ("1e3 GB", "B", 1e12),
        ("2.5e2us", "s", 250e-6),
        ("989TFLOPS", "FLOP/s", 989e12),
        ("1979TOPS", "FLOP/s", 1979e12),
        ("6.3e24FLOP", "FLOP", 6.3e24),
        ("700W", "W", 700),
        ("10.2kW", "W", 10200),
        ("1kWh", "J", 3.6e6),
        ("$2.50", "$", 2.5),
        ("$2.50", "$/h", 2.5),
        ("$60/day", "$/h", 2.5),
        ("$100M", "$", 100e6),
        ("$1B", "$", 1e9),
        ("$0.08/kWh", "$/kWh", 0.08),
        ("$80/MWh", "$/kWh", 0.08),
        ("0.4kg/kWh", "kg/kWh", 0.4),
        ("400g/kWh", "kg/kWh", 0.4),
        ("8%", "share", 0.08),
        ("0.08", "share", 0.08),
        ("2048", "count", 2048),
        ("15.6T", "count", 15_600_000_000_000),
        ("300B", "count", 300_000_000_000),
        ("4Ki", "count", 4096),
        ("1000 steps", "count", 1000),
        ("1e18", "count", 10**18),
        ("1.1", "number", 1.1),
        ("110%", "number", 1.1),
    ],
)
def test_a_quantity_means_its_si_value(text, unit, value):
    assert parse(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "hint"),
    [
        ("3:2", "number", "`3:2` is not a number"),
        ("5=7", "count", "`5=7` is not a whole number"),
        ("3:4", "s", "`3:4` is not a time"),
        ("30", "s", "`30` has no unit; write a time such as `30s`"),
        ("30m", "s", "`m` is no unit; write `30min` for minutes"),
        ("1.5 m", "s", "write `1.5min`"),
        ("1e3m", "count", "`m` is no unit"),
        ("80GB", "B/s", "`80GB` is a size; write a bandwidth"),
        ("80GB/s", "B", "`80GB/s` is a bandwidth; write a size"),
        ("80Gb", "B", "`80Gb` is a number of bits; write bytes, such as `80GB`"),
        ("80gb", "B", "did you mean `80GB`?"),
        ("400gbps", "B/s", "did you mean `400Gbps`?"),
        ("989tflops", "FLOP/s", "did you mean `989TFLOP"),
        ("3 months", "s", "unknown unit"),
        ("$5", "s", "`$5` is an amount of money; write a time"),
        ("2.50", "$", "has no unit; write an amount of money such as `$2.50`"),
        ("8", "share", "`8` is more than the whole; write a share of at most 1, such as `8%`"),
        ("-8%", "share", "negative"),
        ("-1s", "s", "negative"),
        ("2.5", "count", "not a whole number; write one such as `2`"),
        ("1,024", "count", "has a comma; write `1024`"),
        ("many", "count", "`many` is not a whole number such as `2048`"),
        ("nan", "number", "is not a number"),
        ("inf", "number", "is not a number"),
        ("1e300s", "s", "beyond any number that makes sense"),
        ("h", "s", "`h` is not a time"),
        ("c", "number", "`c` is not a number"),
        ("x = 3s", "s", "is not a time"),
        ("", "s", "is not a time"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_to_write(text, unit, hint):
    with pytest.raises(ValueError) as caught:
        parse(text, unit)
    assert hint in str(caught.value)


@pytest.mark.parametrize("unit", sorted(set(FACTORS) - {"count", "share"}))
@given(value=MAGNITUDES)
def test_what_is_written_reads_back_exactly(unit, value):
    assert parse(render(value, unit), unit) == value


@given(value=st.floats(min_value=0, max_value=1))
def test_a_share_reads_back_exactly(value):
    assert parse(render(value, "share"), "share") == value


@given(value=st.integers(min_value=0, max_value=10**29))
def test_a_count_reads_back_exactly(value):
    assert parse(render(value, "count"), "count") == value


@pytest.mark.parametrize("unit", sorted(FACTORS))
@given(text=st.text(alphabet="0123456789.eE+-$%/ kMGTKimunBbpsGFLOPhdW,_x", max_size=12))
def test_any_text_is_a_finite_value_or_a_message(unit, text):
    try:
        value = parse(text, unit)
    except ValueError as error:
        value, text = 0.0, str(error)
    assert math.isfinite(value)
    assert value >= 0
    assert text.startswith("`") or parse(text, unit) == value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1800.0, "s", "30min"),
        (54 * 86400.0, "s", "54d"),
        (80 * 2.0**30, "B", "80GiB"),
        (50e9, "B/s", "50GB/s"),
        (700.0, "W", "700W"),
        (2.5, "$/h", "$2.50/h"),
        (100e6, "$", "$100M"),
        (0.08, "share", "8%"),
    ],
)
def test_round_values_are_written_as_one_would(value, unit, text):
    assert render(value, unit) == text


def test_every_unit_says_what_to_write_and_its_example_parses():
    for unit, expected in EXPECTED.items():
        for example in expected.split("`")[1::2]:
            assert parse(example, unit) >= 0


@pytest.mark.parametrize("text", ["1" * 100_000, "1" + "0 " * 50_000, "0." + "0" * 10_000 + "1GB", "1_000" * 5_000])
def test_a_number_that_never_ends_is_refused_at_once(text):
    start = time.process_time()
    for unit in ("count", "B", "s", "number", "share"):
        with pytest.raises(ValueError, match="is too long for a number; write"):
            parse(text, unit)
    assert time.process_time() - start < 0.5
