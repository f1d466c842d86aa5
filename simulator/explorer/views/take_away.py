"""What to take along: the scenario, the command, the report, the trace, launch flags, the link."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from simulator import convert
from simulator.errors import ForetrainError
from simulator.explorer import answers, asked
from simulator.explorer.desk import desk
from simulator.explorer.waiting import wait
from simulator.explorer.wording import literal
from simulator.outcome.results import Result
from simulator.report import record
from simulator.studies.point import Base
from simulator.trace import chrome

TITLE = "Take away"
ORDER = 10


def show(base: Base, result: Result) -> None:
    text = asked.as_yaml(base)
    result = replace(result, step=wait("timing faster links …", answers.step, base))
    st.markdown("**The command that gives these numbers**")
    st.code(asked.command(base), language="bash", wrap_lines=True)
    if "\n" in base.source:
        st.caption(literal(f"once the scenario is saved as {base.name}.yaml"))
    with st.container(horizontal=True, gap="small"):
        name = file_name(base)
        _download("Scenario (YAML)", text, f"{name}.yaml", "application/yaml")
        st.download_button(
            "Report (HTML)",
            lambda: desk.ask(answers.report, base, result=result).result(),
            f"{name}.html",
            "text/html",
            on_click="ignore",
        )
        _download("Result (JSON)", record.write(result), f"{name}.json", "application/json")
        if result.spans:
            _download("Trace (Perfetto)", chrome(result), f"{name}.trace.json", "application/json")
    st.markdown("**Launch flags**")
    _flags(base)
    st.markdown("**The scenario**")
    st.code(text, language="yaml")
    st.caption("The address of this page holds the scenario and the view: copy it to share what you see.")


def file_name(base: Base) -> str:
    """Return a name for files, from that of the scenario."""
    last = base.name.rpartition("/")[2].removesuffix(".yaml").removesuffix(".yml")
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in last)[:80] or "scenario"


def _download(words: str, text: str, name: str, kind: str) -> None:
    st.download_button(words, text, name, kind, on_click="ignore")


def _flags(base: Base) -> None:
    formats = list(convert.formats())
    name = st.selectbox("framework", formats, index=formats.index("megatron"), key="format")
    try:
        text = convert.write(name, base.read().resolved)
    except (ForetrainError, ValueError) as error:
        st.warning(literal(str(error)))
        return
    st.code(text, language="json" if text.lstrip().startswith("{") else "bash", wrap_lines=True, height=240)
    _download("Download the flags", text, f"{file_name(base)}.{name}.txt", "text/plain")
