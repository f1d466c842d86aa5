"""What one browser tab looks at: the scenario, the view and the pins; kept in step with the address."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import streamlit as st

from simulator.errors import ScenarioError
from simulator.explorer import asked, link
from simulator.explorer.desk import desk
from simulator.studies.point import Base

V = TypeVar("V")
MOST_PINS = 4


def base() -> Base:
    """Return the scenario of this tab as its files are now; an address that was typed, or followed, is read anew."""
    address = {name: st.query_params.get_all(name) for name in st.query_params}
    if st.session_state.get("address") != address:
        st.session_state["address"] = address
        st.session_state["view"] = link.first(address, link.VIEW) or st.session_state.get("view")
        st.session_state["complaint"] = ""
        try:
            show(link.read(address, desk.given, desk.catalogs))
        except ScenarioError as error:
            show(link.read({}, desk.given, desk.catalogs))
            st.session_state["complaint"] = str(error)
    st.session_state["base"] = link.looked_at(_looked_at())
    return _looked_at()


def complaint() -> str:
    """Return what is wrong with the address that was followed, if anything."""
    return str(st.session_state.get("complaint", ""))


def show(base: Base) -> None:
    """Make `base` the scenario of this tab."""
    st.session_state["base"] = base
    st.session_state["complaint"] = ""


def change(key: str, text: str) -> None:
    show(asked.changed(_looked_at(), key, text))


def apply(settings: tuple[str, ...]) -> None:
    show(asked.applied(_looked_at(), settings))


def keep_address(base: Base) -> None:
    """Write the scenario and the view into the address."""
    address = link.write(base, st.session_state.get("view") or "")
    if st.session_state.get("address") != address:
        st.session_state["address"] = address
        st.query_params.from_dict(address)


def pins() -> list[Base]:
    return remember("pins", [])


def pin(base: Base) -> None:
    if base not in pins() and len(pins()) < MOST_PINS:
        pins().append(base)


def unpin(base: Base) -> None:
    pins().remove(base)


def last_valid(base: Base) -> tuple[Base | None, ScenarioError | None]:
    """Return what can be shown, and what is wrong with `base` if that is not it.

    That is the last scenario of this tab that could be read, else `base` without its changes.
    """
    try:
        base.read()
    except ScenarioError as error:
        last = st.session_state.get("valid") or replace(base, changes=())
        return (last if _reads(last) else None), error
    st.session_state["valid"] = base
    return base, None


def _reads(base: Base) -> bool:
    try:
        base.read()
    except ScenarioError:
        return False
    return True


def remember(name: str, value: V) -> V:
    """Return what this tab has kept under `name`, `value` the first time."""
    kept: V = st.session_state.setdefault(name, value)
    return kept


def _looked_at() -> Base:
    base: Base = st.session_state["base"]
    return base
