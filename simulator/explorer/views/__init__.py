"""The views of a result. A view is a module of this folder with a ``TITLE``, its place in the ``ORDER``, and
``show(base, result)``, which draws it; a new view is a new file.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

import streamlit as st

from simulator.outcome.results import Result
from simulator.studies.point import Base


@cache
def views() -> dict[str, ModuleType]:
    """Return the views by title, in their order."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {module.TITLE: module for module in sorted(modules, key=lambda module: module.ORDER)}


def show(base: Base, result: Result) -> None:
    """Let one view be chosen, and draw it."""
    known = list(views())
    if st.session_state.get("view") not in known:
        st.session_state["view"] = known[0]
    st.session_state["chosen view"] = st.session_state["view"]
    st.segmented_control(
        "view", known, key="chosen view", on_change=_chosen, label_visibility="collapsed", required=True
    )
    views()[st.session_state["view"]].show(base, result)


def _chosen() -> None:
    st.session_state["view"] = st.session_state["chosen view"] or st.session_state["view"]
