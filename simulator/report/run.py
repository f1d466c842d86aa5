"""The section on the whole run: days, goodput, and where the wall clock goes."""

from __future__ import annotations

from typing import Any

from simulator.io.readable import DAY, duration, duration_like, percent, prefixed, spread
from simulator.outcome.results import RUN_PARTS, Result, RunResult
from simulator.plots import colours
from simulator.report import optimism
from simulator.report.section import Fact, Part, Section
from simulator.sums import added

OURS = "goodput"
DEFINITIONS = {
    "meta_ettr": "Meta's effective time ratio",
    "google_scheduling": "Google's scheduling goodput",
    "google_runtime": "Google's runtime goodput",
    "google_program": "Google's program goodput",
    "google_total": "Google's goodput",
}


def section(result: Result) -> Section:
    run = result.run
    wall, total = run.wall_clock_s, added(run.parts_s.values())
    write = duration_like(total)
    if not run.progress:
        return Section(
            name="run",
            title="Run",
            answer=f"never ends; {duration(run.ideal_s)} if nothing went wrong",
            facts=_checkpoint(run),
        )
    return Section(
        name="run",
        title="Run",
        answer=f"{duration(wall.p50)} (P10 {duration(wall.p10)}, P90 {duration(wall.p90)}),"
        f" {duration(run.ideal_s)} if nothing went wrong",
        parts=tuple(
            Part(
                label=part,
                value=write(run.parts_s[part]),
                share=run.parts_s[part] / total,
                colour=colours.RUN[part],
            )
            for part in RUN_PARTS
            if run.parts_s.get(part, 0.0) > 0
        ),
        facts=(
            *_luck(result),
            Fact(label="goodput", value=percent(run.goodput.mean), note=f"P10/P50/P90 {spread(run.goodput, percent)}"),
            *_definitions(run.goodput_definitions),
            *_checkpoint(run),
            *_spares(run.spares),
        ),
        notes=_optimism(result),
        pictures=("wall_clock", "finish_dates"),
    )


def _optimism(result: Result) -> tuple[str, ...]:
    """Return the line on optimistic defaults of a run that failures stop."""
    cluster = result.scenario.get("cluster", {})
    gpus = int(cluster.get("hosts", 0)) * int(cluster.get("host", {}).get("gpus", 0))
    said = optimism.line(result.assumptions, gpus) if result.run.interruptions.get("mean") else None
    return (said,) if said else ()


def _luck(result: Result) -> tuple[Fact, ...]:
    """Return how far failures alone move the run, where something else does too."""
    luck = result.run.luck
    if luck is None or luck.wall_clock_s == result.run.wall_clock_s:
        return ()
    wall = luck.wall_clock_s
    return (
        Fact(
            label="failures alone",
            value=f"{duration(wall.p10)} to {duration(wall.p90)}",
            note="P10 to P90 if the step and all rates were sure",
        ),
    )


def follows_the_step(result: Result) -> bool:
    """Return whether the run takes longer if the step does, and the step is a prediction."""
    fixed = result.scenario.get("training", {}).get("duration") is not None
    return not fixed and result.step.time_low_s != result.step.time_high_s


def interruptions(result: Result) -> Section | None:
    """Return what stops the run, by cause, most frequent first."""
    found = result.run.interruptions
    mean, planned, replaced = (float(found.get(name, 0.0)) for name in ("mean", "planned", "replaced"))
    if mean <= 0 and planned <= 0 and replaced <= 0:
        return None
    causes = sorted(found.get("by_cause", {}).items(), key=lambda cause: (-cause[1], cause[0]))
    days = result.run.wall_clock_s.mean / DAY
    often = f", {_count(mean / days)} a day" if 0 < days < float("inf") else ""
    return Section(
        name="interruptions",
        title="Interruptions",
        answer=f"{_count(mean)} unexpected{often}"
        + (f", and {_count(planned)} planned" if planned > 0 else "")
        + (f", and {_count(replaced)} to replace slow hosts" if replaced > 0 else ""),
        parts=tuple(
            Part(label=cause, value=f"{count:,.1f}", share=count / mean, colour=colours.VERMILLION)
            for cause, count in causes
            if count > 0
        ),
    )


def _definitions(definitions: dict[str, Any]) -> tuple[Fact, ...]:
    """Return goodput as others define it."""
    return tuple(
        Fact(label=DEFINITIONS.get(name, name.replace("_", " ")), value=percent(one["value"]), note=one["definition"])
        for name, one in definitions.items()
        if name != OURS
    )


def _checkpoint(run: RunResult) -> tuple[Fact, ...]:
    checkpoint = run.checkpoint
    interval = checkpoint.get("interval_s")
    if not interval or interval == float("inf"):
        saved = run.parts_s.get("checkpoint", 0.0) > 0
        return (Fact(label="checkpoint", value="only at the end" if saved else "never"),)
    stall, persist = duration(checkpoint.get("stall_s") or 0.0), checkpoint.get("persist_s") or 0.0
    return (
        Fact(label="checkpoint every", value=duration(interval), note="of useful work"),
        Fact(
            label="checkpoint",
            value=prefixed(checkpoint.get("bytes") or 0.0, "B"),
            note=f"stalls the run {stall}" + (f", on storage after {duration(persist)}" if persist > 0 else ""),
        ),
        *_best(checkpoint),
    )


def _best(checkpoint: dict[str, Any]) -> tuple[Fact, ...]:
    """Return the interval that closed forms call best, and how little it matters."""
    best = checkpoint.get("best_interval_s")
    if not best:
        return ()
    half, double = checkpoint.get("loss_at_half") or 0.0, checkpoint.get("loss_at_double") or 0.0
    note = f"half of it loses {100 * half:.2g} points of goodput, double {100 * double:.2g}"
    return (Fact(label="best interval", value=duration(best), note=note),)


def _spares(spares: dict[str, Any]) -> tuple[Fact, ...]:
    facts = []
    if (waiting := spares.get("waiting_share")) is not None:
        facts.append(Fact(label="waiting for a spare", value=percent(waiting), note="of the wall clock"))
    if (needed := spares.get("needed_p99")) is not None:
        facts.append(Fact(label="spares needed", value=_count(needed), note="hosts, to wait less than 1% of the time"))
    return tuple(facts)


def _count(number: float) -> str:
    return (
        f"{number:,.0f}"
        if number >= 10 or number == round(number)
        else f"{number:.1f}"
        if number >= 0.1
        else f"{number:.2g}"
    )
