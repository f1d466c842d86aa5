"""The answer at a glance: the verdict, the numbers that decide, what binds and what would help."""

from __future__ import annotations

from typing import Any

import streamlit as st

from simulator.explorer import answers, state, style
from simulator.explorer.desk import desk
from simulator.explorer.levers import Lever, binding
from simulator.explorer.waiting import wait
from simulator.explorer.wording import literal
from simulator.readable import chance, dollars, duration, memory, percent, prefixed
from simulator.report.verdict import subtitle, verdict
from simulator.results import Advice, Result
from simulator.studies.columns import INFEASIBLE
from simulator.studies.metrics import text
from simulator.studies.point import Base, Point, evaluate

BOXES = {"fits": st.success, "tight": st.warning, "oom": st.error}
WORDS = {"fits": "Fits", "tight": "Tight", "oom": "Does not fit", INFEASIBLE: "Cannot be run"}


class Headline:
    """The headline of one scenario: step and memory stand there before the run is simulated."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.box, self.title, self.figures, self.notes = st.empty(), st.empty(), st.empty(), st.container()
        if (answer := desk.found(answers.whole, base)) is not None:
            self._fill(answer)
        else:
            row = evaluate(Point(base, (), quick=True))
            word = WORDS.get(row["verdict"], "Not checked")
            with self.box:
                BOXES.get(row["verdict"], st.info)(f"**{word}** {literal(row['reason'] or '')}")
            _figures(self.figures, quick(row))

    def finish(self) -> Result:
        """Simulate the run, write what it says, and return it."""
        with self.notes:
            result: Result = wait(desk.ask(answers.whole, self.base), f"simulating {self.base.read().runs} runs …")
        self._fill(result)
        for warning in result.warnings:
            self.notes.warning(literal(warning))
        return result

    def _fill(self, result: Result) -> None:
        word, sentence = verdict(result)
        with self.box:
            kind = st.error if not result.run.progress else BOXES.get(result.verdict or "", st.info)
            kind(f"**{word}** {literal(sentence)}")
        self.title.caption(literal(subtitle(result)))
        _figures(self.figures, whole(result))


def quick(row: dict[str, Any]) -> list[style.Figure]:
    """Return the figures of the fast clock."""
    figures = []
    if row.get("step_time_s") is not None:
        low, high = duration(row["step_time_low_s"]), duration(row["step_time_high_s"])
        figures.append(("step", duration(row["step_time_s"]), f"{low} to {high}"))
        figures.append(("MFU", text("mfu", row["mfu"]), ""))
    if row.get("peak_bytes") is not None:
        figures.append(("peak memory", memory(row["peak_bytes"]), f"P(fits) {chance(row['p_fits'])}"))
    return figures


def whole(result: Result) -> list[style.Figure]:
    """Return the figures of a whole result: P50 with P10 and P90."""
    step, run, cost = result.step, result.run, result.cost
    figures = [("step", duration(step.time_s), f"{duration(step.time_low_s)} to {duration(step.time_high_s)}")]
    if step.mfu is not None:
        figures.append(("MFU", percent(step.mfu), f"{prefixed(step.tokens_per_s)} tokens/s"))
    if result.memory is not None:
        figures.append(("peak memory", memory(result.memory.peak_bytes), f"P(fits) {chance(result.memory.p_fits)}"))
    if run.progress:
        wall = run.wall_clock_s
        figures += [
            ("wall clock", duration(wall.p50), f"{duration(wall.p10)} to {duration(wall.p90)}"),
            ("goodput", percent(run.goodput.mean), f"{percent(run.goodput.p10)} to {percent(run.goodput.p90)}"),
            ("cost", dollars(cost.dollars.p50), f"{dollars(cost.dollars.p10)} to {dollars(cost.dollars.p90)}"),
        ]
    return figures


def _figures(spot: Any, figures: list[style.Figure]) -> None:
    spot.html(style.figures(figures))


def help_(base: Base, result: Result) -> None:
    """Say what binds and what would help, each with a button that does it."""
    if (found := binding(result)) is not None:
        cause, share = found
        st.markdown(f"**What binds:** {literal(cause)} takes {percent(share)} of the peak")
    better, fitting = wait(desk.ask(answers.better, base), "looking for the next lever …")
    for place, one in enumerate(fitting[:3]):
        _offer(f"fit {place}", f"**To fit:** {_fit(one)}", one.settings)
    faster = [one for one in better if one.settings not in [other.settings for other in fitting[:3]]]
    for place, one in enumerate(faster[:2]):
        _offer(f"lever {place}", f"**{'Next best lever' if not place else 'Or'}:** {_lever(one)}", one.settings)
    if not better and not fitting:
        st.markdown("**Next best lever:** no other layout that differs in one axis is faster and fits")


def _offer(key: str, words: str, settings: tuple[str, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.button("Try it", key=key, on_click=state.apply, args=(settings,))
        st.markdown(words)


def _lever(one: Lever) -> str:
    tie = ", a tie within the error of the model" if one.tie else ""
    return literal(f"{one.what}, step {duration(one.step_time_s)} ({100 * one.time:+.1f}%){tie}")


def _fit(one: Advice) -> str:
    what = f"{one.change}, P(fits) {chance(one.p_fits)}, step {100 * one.time:+.1f}%"
    return literal(what)
