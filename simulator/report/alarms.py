"""Alarms of a forecast, each as a sentence."""

from __future__ import annotations

from simulator.io.readable import duration
from simulator.studies.forecast.alarms import Alarm


def sentence(alarm: Alarm) -> str:
    """Return what has left its range, since when, in words.

    >>> sentence(Alarm("step", 4200, 9.1, 7.1, 8.4))
    'steps take 9.10 s since iteration 4,200; predicted were 7.10 s to 8.40 s'
    >>> sentence(Alarm("failures", None, 14, 1, 6))
    '14 failures so far; predicted were 1 to 6'
    """
    if alarm.what == "failures":
        return f"{alarm.value:,.0f} failures so far; predicted were {alarm.low:,.0f} to {alarm.high:,.0f}"
    predicted = f"predicted were {duration(alarm.low)} to {duration(alarm.high)}"
    if alarm.what == "restart":
        return f"restarts take {duration(alarm.value)} in the mean; {predicted}"
    since = "from the first iteration on" if alarm.since is None else f"since iteration {alarm.since:,}"
    return f"steps take {duration(alarm.value)} {since}; {predicted}"
