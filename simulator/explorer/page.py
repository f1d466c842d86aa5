"""The page, run from top to bottom by Streamlit whenever something on it changes."""

from __future__ import annotations

import streamlit as st

from simulator.errors import ForetrainError
from simulator.explorer import headline, sidebar, state, style, views
from simulator.explorer.desk import desk
from simulator.explorer.wording import literal
from simulator.studies.point import Base


def page() -> None:
    st.set_page_config(page_title="foretrain", page_icon=style.ICON, layout="wide")
    st.html(style.SHEET)
    try:
        base = state.base()
        valid, error = state.last_valid(base)
        sidebar.show(base, valid, error)
    except ForetrainError as wrong:
        st.error(literal(str(wrong)))
        return
    state.keep_address(base)
    if error is not None:
        st.error(literal(str(error)))
    if valid is not None:
        desk.drop(but=valid)
        _answer(valid, stale=error is not None)


def _answer(base: Base, *, stale: bool) -> None:
    scenario = base.read()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.html(style.title(scenario.name))
        full, there = len(state.pins()) >= state.MOST_PINS, base in state.pins()
        words = "pinned" if there else "4 are pinned" if full else "Pin to compare"
        st.button(words, key="pin", on_click=state.pin, args=(base,), disabled=full or there or stale)
    if stale:
        st.caption("Below stands the last scenario that could be read.")
    try:
        result = headline.show(base)
        views.show(base, result)
    except ForetrainError as wrong:
        st.error(literal(str(wrong)))


page()
