"""How any figure answers to any key."""

from __future__ import annotations

import re

import streamlit as st

from simulator.explorer import asked, fields
from simulator.explorer.charts import curve
from simulator.explorer.waiting import wait_for_all
from simulator.explorer.wording import literal
from simulator.outcome.results import Result
from simulator.studies import sweep
from simulator.studies.columns import INFEASIBLE
from simulator.studies.metrics import label
from simulator.studies.point import Base, evaluate
from simulator.studies.vary import axis

TITLE = "What if"
ORDER = 7
METRICS = (*sweep.DEFAULT_METRICS, "p_fits", "tokens_per_s", "energy_j")
KEYS = ("cluster.host.nic_bandwidth", "cluster.hosts", "training.global_batch", "failures.scale", "prices.gpu_hour")
TIMES = (0.25, 0.5, 1, 2, 4)
MOST = 60
"""Points of a study on the page; longer ones are for the command line."""
_NUMBER = re.compile(r"(\$?)([0-9][0-9.]*)(.*)")


def show(base: Base, result: Result) -> None:
    found, resolved = asked.document(base), base.read().resolved
    offered = [one for group in fields.fields(found, resolved, base.catalogs).values() for one in group]
    now = {one.key: one.text for one in offered}
    left, right = st.columns((2, 1))
    keys = [*(key for key in KEYS if key in now), *(key for key in now if key not in KEYS)]
    key = left.selectbox("key", keys, key="what if key", accept_new_options=True)
    metric = right.selectbox("figure", METRICS, format_func=label, key="what if figure")
    options = next((one.options for one in offered if one.key == key), ())
    values = st.text_input("values", values_of(now.get(key, ""), options), key=f"values {key} {now.get(key)}")
    study = axis(f"{key}=[{values}]")
    if len(study.values) > MOST:
        st.warning(f"{len(study.values)} values; {MOST} are the most here, `foretrain sweep` takes any number.")
        return
    rows = wait_for_all(evaluate, sweep.points([base], [study]), "what if")
    if sweep.feasible(rows):
        st.altair_chart(curve.chart(rows, study, metric, now.get(key, "")), alt=f"{label(metric)} over {key}")
    for row in rows:
        if row["verdict"] in (INFEASIBLE, "oom") or row.get("progress") is False:
            st.caption(literal(f"{row[study.key]}: {row['reason'] or row['verdict']}"))
    st.caption("The same numbers as")
    st.code(
        asked.command(base, "sweep", "--vary", f"{key}=[{values}]", "--metric", metric),
        language="bash",
        wrap_lines=True,
    )


def values_of(now: str, options: tuple[str, ...]) -> str:
    """Return values worth trying: the options where there are a few, else halves and doubles of what is there now.

    >>> values_of("25GB/s", ())
    '6.25GB/s, 12.5GB/s, 25GB/s, 50GB/s, 100GB/s'
    >>> values_of("bf16", ("fp16", "bf16"))
    'fp16, bf16'
    """
    if 0 < len(options) <= 10:
        return ", ".join(option for option in options if option)
    number = _NUMBER.fullmatch(now)
    if number is None:
        return ", ".join(dict.fromkeys((now, *options[:4])))
    before, digits, after = number.groups()
    return ", ".join(f"{before}{float(digits) * times:.10g}{after}" for times in TIMES)
