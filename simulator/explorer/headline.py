"""The answer at a glance: the verdict, the numbers that decide, what binds and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from simulator.explorer import answers, state, style
from simulator.explorer.desk import desk
from simulator.explorer.figures import quick, whole
from simulator.explorer.levers import Lever, binding
from simulator.explorer.waiting import wait
from simulator.explorer.wording import literal
from simulator.io.readable import chance, duration, percent
from simulator.outcome.results import Advice, Result
from simulator.report.verdict import answers as told
from simulator.report.verdict import subtitle
from simulator.studies.columns import INFEASIBLE
from simulator.studies.point import Base, Point, evaluate

BOXES = {"fits": st.success, "tight": st.warning, "oom": st.error}
WORDS = {"fits": "Fits", "tight": "Tight", "oom": "Does not fit", INFEASIBLE: "Cannot be run"}

MOST_FITTING = 2
"""Changes that make a scenario fit which are offered."""


class Headline:
    """The headline of one scenario: step and memory stand there before the run is simulated."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.box, self.title, self.figures = st.empty(), st.empty(), st.empty()
        self.notes, self.help = st.container(), st.container()
        if (answer := desk.found(answers.whole, base)) is not None:
            self._fill(answer)
        else:
            row = evaluate(Point(base, (), quick=True))
            word = WORDS.get(row["verdict"], "Not checked")
            with self.box:
                BOXES.get(row["verdict"], st.info)(f"**{word}** {literal(row['reason'] or '')}")
            self.figures.html(style.figures(quick(row)))

    def finish(self) -> Result:
        """Simulate the run, write what it says and what would help, and return it."""
        desk.ask(answers.whole, self.base)
        desk.ask(answers.better, self.base)
        with self.notes:
            result: Result = wait(f"simulating {self.base.read().runs} runs …", answers.whole, self.base)
        self._fill(result)
        for warning in result.warnings:
            self.notes.warning(literal(warning))
        with self.help:
            better, fitting = wait("looking for the next lever …", answers.better, self.base)
            _help(result, better, fitting)
        return replace(result, advice=fitting)

    def _fill(self, result: Result) -> None:
        no = not result.run.progress or bool(result.targets.get("missed"))
        with self.box:
            kind = st.error if no else BOXES.get(result.verdict or "", st.info)
            kind("  \n".join(f"**{one.word}** {literal(one.sentence)}" for one in told(result)))
        self.title.caption(literal(subtitle(result)))
        self.figures.html(style.figures(whole(result)))


def _help(result: Result, better: Sequence[Lever], fitting: Sequence[Advice]) -> None:
    """Say what binds and what would help, each with a button that does it."""
    if (found := binding(result)) is not None:
        cause, share = found
        st.markdown(f"**What binds:** {literal(cause)} takes {percent(share)} of the peak")
    for place, one in enumerate(fitting[:MOST_FITTING]):
        _offer(f"fit {place}", f"**To fit:** {_fit(one)}", one.settings)
    faster = [one for one in better if one.settings not in [other.settings for other in fitting[:MOST_FITTING]]]
    for lever in faster[:1]:
        _offer("lever", f"**Next best lever:** {_lever(lever)}", lever.settings)
    if not better and not fitting and result.memory is not None:
        st.markdown("**Next best lever:** no other layout that differs in one axis is faster and fits")


def _offer(key: str, words: str, settings: tuple[str, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.button("Try it", key=key, on_click=state.apply, args=(settings,))
        st.markdown(words)


def _lever(one: Lever) -> str:
    sure = f", shorter with {chance(one.p_faster)}"
    return literal(f"{one.what}, step {duration(one.step_time_s)} ({100 * one.time:+.1f}%){sure}")


def _fit(one: Advice) -> str:
    what = f"{one.change}, P(fits) {chance(one.p_fits)}, step {100 * one.time:+.1f}%"
    return literal(what)
