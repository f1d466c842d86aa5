"""What fills the memory of each stage, and how it rises and falls over a step."""

from __future__ import annotations

import streamlit as st

from simulator.explorer import drawn
from simulator.outcome.results import Result
from simulator.studies.point import Base

TITLE = "Memory"
ORDER = 3


def show(base: Base, result: Result) -> None:
    if result.memory is None:
        st.caption("The step is given without a model, so memory is not computed.")
        return
    drawn.picture("memory_by_stage", base, result)
    drawn.picture("memory_over_step", base, result)
    drawn.section("memory", result)
