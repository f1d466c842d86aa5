"""A forecast for a terminal: five lines that decide, then what was believed before and now, and what to change."""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page, printable
from simulator.io.readable import DAY, NO_PROGRESS, dollars, duration, percent
from simulator.io.terminal import page, table
from simulator.io.terminal import words as _text
from simulator.outcome.results import Distribution
from simulator.plots import colours
from simulator.report.alarms import sentence
from simulator.report.verdict import chance_to_miss
from simulator.studies.forecast.forecast import Forecast
from simulator.studies.forecast.levers import Lever

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

CALENDAR = 946_684_800.0
"""The first second of 2000; a clock that shows less is no date."""
FEW = 30
"""Lines of a log below which its early steps may still settle."""
SOURCES = {
    "given": "as given",
    "clock": "by the clock of the log",
    "steps": "the sum of its steps; the log has no clock",
}


def write(told: Forecast, console: Console | None = None) -> Page:
    """Return the forecast as text."""
    blocks: list[Any] = [*_verdict(told), *map(_filled, (*_left(told), _money(told)))]
    blocks += [_filled(line) for line in _alarmed(told)]
    blocks += [_filled(_next(told)), "", table(("", "predicted", "now"), _beliefs(told)), "", *_log(told)]
    if told.levers:
        blocks += ["", table(("tried for the rest", "saves", "dollars", "--set"), [_tried(one) for one in told.levers])]
    return page([*blocks, "", *(_filled(f"- {note}") for note in _notes(told))], console)


def _filled(line: str) -> str:
    return textwrap.fill(printable(line), 79, subsequent_indent="  ", break_on_hyphens=False)


def _verdict(told: Forecast) -> list[Any]:
    wall, before = told.wall_clock_s, told.before.run.wall_clock_s
    if not isfinite(wall.p50):
        return [_headline("NO PROGRESS", NO_PROGRESS, colours.VERMILLION)]
    said = f"{_range(wall, duration)} in all, {duration(before.p50)} predicted"
    if missed := told.targets.get("missed"):
        lost = ", ".join(chance_to_miss(name, told.targets) for name in missed)
        return [_headline("MISSES", lost, colours.VERMILLION), _filled(said)]
    if before.p10 <= wall.p50 <= before.p90:
        return [_headline("ON COURSE", said, colours.GREEN)]
    late = wall.p50 > before.p90
    return [_headline("LATER" if late else "EARLIER", said, colours.VERMILLION if late else colours.GREEN)]


def _headline(word: str, sentence: str, colour: str) -> Any:
    return _text(word, f"bold {colour}") + _text(f"  {sentence}", "bold")


def _range(spread: Distribution, write: Callable[[float], str]) -> str:
    return f"{write(spread.p50)} ({write(spread.p10)} to {write(spread.p90)})"


def _left(told: Forecast) -> list[str]:
    left, now = told.left_s, told.evidence.now
    if not isfinite(left.p50):
        return []
    said = f"{_range(left, duration)} left"
    if now is None or now < CALENDAR or not isfinite(left.p90):
        return [said]
    form = "%Y-%m-%d %H:%M" if left.p90 < 2 * DAY else "%Y-%m-%d"
    first, middle, last = (
        datetime.fromtimestamp(now + value, UTC).strftime(form) for value in (left.p10, left.p50, left.p90)
    )
    return [f"{said}: ends {middle} ({first} to {last})"]


def _money(told: Forecast) -> str:
    if not isfinite(told.left_s.p50):
        return f"{dollars(told.spent)} spent so far"
    return f"{_range(told.dollars, _price)} in all, {dollars(told.spent)} of it spent"


def _price(amount: float) -> str:
    return dollars(amount) if isfinite(amount) else "no end"


def _alarmed(told: Forecast) -> list[str]:
    if not told.alarms:
        return ["no alarm: the run is inside what was predicted of it"]
    return [f"alarm: {sentence(one)}" for one in told.alarms]


def _next(told: Forecast) -> str:
    """Return the change that saves most: dollars, or days where the deadline is missed."""
    sure = [one for one in told.levers if one.sure and one.saves_s > 0]
    if "deadline" in told.targets.get("missed", ()):
        best = max(sure, key=lambda one: one.saves_s, default=None)
    else:
        best = next((one for one in sure if one.pays), None)
    if best is None:
        return "next: nothing that was tried saves time and money for the rest"
    money = best.saves_dollars
    also = f" and {dollars(money)}" if money >= 0 else f" and costs {dollars(-money)}"
    how = "".join(f" --set {key}={value}" for key, value in best.settings.items())
    return f"next: {best.what}, saves {duration(best.saves_s)}{also}{':' if how else ''}{how}"


def _beliefs(told: Forecast) -> list[tuple[str, str, str]]:
    before, step, really = told.before, told.step, told.really
    predicted = before.step.time_s
    down = told.rest.run.recovery.mean_down(told.rest.run.units["gpu"])
    now = predicted * step.ratio
    return [
        ("step", *_steps(predicted, before.step.time_low_s, before.step.time_high_s, now, step)),
        ("failures per day", _few(told.predicted_rate * DAY), _few(told.rate * DAY)),
        ("restart", duration(down), duration(down * really.away.middle)),
        ("goodput, of the rest", _range(before.run.goodput, percent), _range(told.rest.goodput(), percent)),
        ("whole run", _range(before.run.wall_clock_s, duration), _range(told.wall_clock_s, duration)),
        ("dollars", _range(before.cost.dollars, _price), _range(told.dollars, _price)),
    ]


def _steps(predicted: float, low: float, high: float, now: float, step: Any) -> tuple[str, str]:
    after = f"{duration(now)} ({duration(now * step.error.low)} to {duration(now * step.error.high)})"
    return f"{duration(predicted)} ({duration(low)} to {duration(high)})", after


def _few(number: float) -> str:
    return f"{number:.3g}"


def _log(told: Forecast) -> list[Any]:
    evidence, log = told.evidence, told.explained.log
    away = f", {duration(sum(evidence.away) / len(evidence.away))} each" if evidence.away else ""
    counted = (
        f"{evidence.failures:,} in {duration(evidence.exposed)} of training" if evidence.exposed else "not counted"
    )
    rows = [
        ("format", log.format),
        ("steps done", f"{evidence.done:,} of {evidence.total:,} ({percent(evidence.done / evidence.total)})"),
        ("time so far", f"{duration(evidence.elapsed)}, {SOURCES[evidence.elapsed_from]}"),
        ("failures so far", counted + away),
    ]
    return [printable(log.name), table(("", ""), rows)]


def _tried(lever: Lever) -> tuple[str, str, str, str]:
    settings = " ".join(f"{key}={value}" for key, value in lever.settings.items())
    if not lever.sure:
        return lever.what, "no difference", "", settings
    return lever.what, duration(lever.saves_s), _signed(lever.saves_dollars), settings


def _signed(amount: float) -> str:
    return dollars(amount) if amount >= 0 else f"-{dollars(-amount)}"


def _notes(told: Forecast) -> list[str]:
    evidence = told.evidence
    few = (
        [f"only {len(evidence.steps)} lines of steps: early ones are often longer"] if len(evidence.steps) < FEW else []
    )
    notes = few + [f"step: {reason.what}, {reason.sd_ln:.2%}" for reason in told.step.error.reasons[:3]]
    if evidence.elapsed_from == "steps":
        notes.append(
            "restarts so far are assumed to have taken what was predicted; --elapsed says the time since the start"
        )
    if not evidence.exposed:
        notes.append(
            "nothing shows whether the run failed so far, so that its rate is as predicted; --failures says it"
        )
    if told.explained.found.periodic:
        notes.append("steps that are longer at a fixed distance count as steps; if they are saves, these count twice")
    return notes
