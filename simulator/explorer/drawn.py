"""Parts of views: a picture of the report, the facts of one of its sections."""

from __future__ import annotations

import streamlit as st

from simulator.explorer import answers
from simulator.explorer.waiting import wait
from simulator.explorer.wording import literal
from simulator.outcome.results import Result
from simulator.report.html import DESCRIPTIONS
from simulator.report.section import Section
from simulator.report.story import sections
from simulator.studies.point import Base


def picture(name: str, base: Base, result: Result) -> None:
    """Draw the picture `name` of a result, if there is anything to draw."""
    from simulator.plots import gallery

    if not gallery.pictures()[name].applies(result):
        return
    spot = st.empty()
    with spot:
        svg = wait("drawing …", answers.picture, name, base, result=result)
    spot.image(svg, width="stretch", alt=DESCRIPTIONS.get(name, name))


def section(name: str, result: Result) -> None:
    """Write a section of the report: its answer, its parts and its facts."""
    found = next((one for one in sections(result) if one.name == name), None)
    if found is None:
        return
    st.markdown(f"**{literal(found.title)}** {literal(found.answer)}")
    _parts(found)
    _facts(found)
    for note in found.notes:
        st.caption(literal(note))


def _parts(found: Section) -> None:
    if found.parts:
        rows = [{"part": one.label, "value": one.value, "share": f"{100 * one.share:.1f}%"} for one in found.parts]
        st.table([{name: literal(text) for name, text in row.items()} for row in rows], border="horizontal")


def _facts(found: Section) -> None:
    if found.facts:
        rows = [{"fact": one.label, "value": one.value, "": one.note} for one in found.facts]
        st.table([{name: literal(text) for name, text in row.items()} for row in rows], border="horizontal")
