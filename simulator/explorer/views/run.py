"""The whole run: when it ends, what is lost, and how often to save."""

from __future__ import annotations

from math import isfinite

import streamlit as st

from simulator.explorer import asked, drawn
from simulator.explorer.charts import curve
from simulator.explorer.waiting import wait_for_all
from simulator.outcome.results import Result
from simulator.studies import sweep
from simulator.studies.point import Base, evaluate
from simulator.studies.vary import Axis

TITLE = "Run"
ORDER = 5
INTERVAL = "checkpoint.interval"
TIMES = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)


def show(base: Base, result: Result) -> None:
    drawn.picture("finish_dates", base, result)
    how_often = st.container()
    drawn.picture("wall_clock", base, result)
    for name in ("run", "interruptions", "cost", "targets"):
        drawn.section(name, result)
    if result.run.interruptions.get("mean", 0.0) > 0:
        # Last, since it takes as long as all the rest together.
        with how_often:
            _how_often(base, result)


def _how_often(base: Base, result: Result) -> None:
    """Draw goodput against the interval between saves, the one of this scenario marked."""
    now = result.run.checkpoint.get("interval_s") or 0.0
    if not (isfinite(now) and now > 0):
        return
    axis = Axis(INTERVAL, tuple(_minutes(times * now) for times in TIMES))
    fixed = asked.of_kind(base, "checkpoint", "fixed")
    rows = wait_for_all(evaluate, sweep.points([fixed], [axis]), "how often to save")
    st.markdown("**How often to save:** goodput against the interval, this scenario's large and red")
    st.altair_chart(curve.chart(rows, axis, "goodput_mean", _minutes(now)), alt="Goodput against checkpoint interval")
    st.caption("The same numbers as")
    varied = f"{INTERVAL}=[{', '.join(axis.values)}]"
    st.code(asked.command(fixed, "sweep", "--vary", varied, "--metric", "goodput"), language="bash", wrap_lines=True)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.4g}min"
