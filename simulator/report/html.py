"""The report as a page: one file that needs no network and no script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.io.printable import json_text, printable
from simulator.outcome.results import Result
from simulator.plots import gallery
from simulator.report.story import sections
from simulator.report.verdict import answers, figures, subtitle

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATE = Path(__file__).with_name("page.html")
DESCRIPTIONS = {
    "waterfall": "Bars from the peak FLOP/s of a GPU down to what the model gets, one for each cause of loss",
    "pipeline": "Timeline of one step, a row for each pipeline stage",
    "network": "Tiers of the network, links coloured by how busy they are",
    "memory_by_stage": "Stacked bars of the memory of each pipeline stage, with a line at what is usable",
    "memory_over_step": "Memory of the fullest stage over one step, with its peak and a line at what is usable",
    "wall_clock": "Bars for the parts of the wall clock that are not training",
    "finish_dates": "Histogram of the wall clock over simulated runs with P10, P50 and P90",
}


def write(result: Result) -> str:
    """Return the page; everything that comes from the scenario is escaped."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        finalize=_words,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = _breakable
    drawn = {name for name, module in gallery.pictures().items() if module.applies(result)}
    told = [
        (section, [(name, Markup(gallery.svg(name, result))) for name in section.pictures if name in drawn])
        for section in sections(result)
    ]
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        name=result.scenario.get("name") or "Unnamed scenario",
        source=result.scenario.get("source"),
        subtitle=subtitle(result),
        answers=answers(result),
        figures=figures(result),
        sections=told,
        warnings=result.warnings,
        descriptions=DESCRIPTIONS,
        scenario=json_text(result.scenario).rstrip("\n"),
    )


def _words(value: Any) -> Any:
    """Return what is written for a value: text without control characters; a drawing as it is."""
    return value if not isinstance(value, str) or hasattr(value, "__html__") else printable(value, keep="\n")


def _breakable(label: str) -> Markup:
    """Return a label that may be broken after the dots and underscores of a key, and between words."""
    from markupsafe import Markup, escape

    words = escape(printable(label))
    for mark in "._":
        words = words.replace(mark, Markup(f"{mark}<wbr>"))
    return words
