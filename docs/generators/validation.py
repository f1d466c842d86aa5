"""The page on accuracy: every published measurement that ships, beside its prediction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from generators import left_out
from generators.markdown import table
from simulator import catalog
from simulator.cli import _leave_out
from simulator.cli.validate import Predict
from simulator.engine.prices.constants import constants
from simulator.studies.executors import processors
from simulator.validation import files, goals
from simulator.validation import page as written
from simulator.validation.files import Table
from simulator.validation.summary import Summary, summary

SYSTEMS = "Each system of links left out"
UNFITTED = "Nothing fitted on runs"
GENERATIONS = "Each generation of links left out"
FAMILIES = """## Families of runs

A family is one source and the machine it ran on. Families count alike in means, whatever their number of rows.
"""
SHARED = """## Constants fitted on runs

{count} factors on rates of kernels are shared by all runs and were fitted on published runs, robustly, families
weighted equally, each pulled toward its prior. The first errors of runs above are therefore in sample; those with
sources, stacks and GPUs left out say what to expect of a run that nobody has measured. The constants of kernels and
collectives come from their own tables; [collectives](concepts/collectives.md) says which from where.
"""


NOT_SHIPPED = Path(__file__).parent / "not_shipped.txt"
"""Dated figures of tables that may not be redistributed."""


SCALING = Path(__file__).parent / "scaling.txt"
"""What the figure of scaling shows."""


PROOF = Path(__file__).parent / "proof.txt"
"""Dated figures of attacks on the promises, which take hours."""


def page() -> str:
    """Return the page: figures and rules, then what the families and the shared constants are."""
    tables = [files.read(path) for path in files.shipped()]
    shipped = summary(files.lines(tables, Predict(), workers=processors()))
    others = [
        (UNFITTED, unfitted(tables)),
        (SYSTEMS, systems_left_out(tables)),
        (GENERATIONS, generations_left_out(tables)),
    ]
    apart = NOT_SHIPPED.read_text(encoding="utf-8")
    proof = PROOF.read_text(encoding="utf-8")
    scaling = SCALING.read_text(encoding="utf-8")
    return "\n".join(
        [written.write(shipped, others).rstrip("\n"), "", left_out(), apart, scaling, _families(), _shared(), proof]
    )


def with_left_out(text: str) -> str:
    """Return the page with its sections on what was left out written again."""
    tables = [files.read(path) for path in files.shipped()]
    new = {
        left_out.HEADING: left_out.section(),
        SYSTEMS: written.section(SYSTEMS, systems_left_out(tables)),
        GENERATIONS: written.section(GENERATIONS, generations_left_out(tables)),
    }
    for heading, section in new.items():
        start = text.index(f"## {heading}\n")
        text = text[:start] + section + "\n" + text[text.index("\n## ", start) + 1 :]
    return text


def systems_left_out(tables: Sequence[Table]) -> Summary:
    """Return what collectives reach; a system is a generation of links as one source measured it."""
    return _of_links(tables, ["each"])


def unfitted(tables: Sequence[Table]) -> Summary:
    """Return the figures of step times with the constants that runs share at their priors."""
    runs = [table for table in tables if table.suite.kind == "runs"]
    found = summary(files.lines(runs, Predict(frozenset({"fitted"})), workers=processors()))
    times = tuple(one for one in found.quantities if one.name == "step_time_s")
    return replace(found, quantities=times, fits={})


def generations_left_out(tables: Sequence[Table]) -> Summary:
    """Return what collectives reach, each generation of links predicted as if nobody had measured it."""
    links = [one for one in tables if one.suite.kind == "collectives"]
    return _of_links(tables, sorted(_leave_out.generations(links)))


def _of_links(tables: Sequence[Table], words: Sequence[str]) -> Summary:
    links = [one for one in tables if one.suite.kind == "collectives"]
    lines = [line for word in words for line in _leave_out.links_left_out(links, [word], _leave_out.Chosen()).lines]
    return replace(summary(lines, goals.LEFT_OUT), quantities=(), spread=None)


def _families() -> str:
    rows = next(found.rows for found in map(files.read, files.shipped()) if found.suite.kind == "runs")
    known: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        family = known.setdefault(row.texts["family"], {"gpu_name": {}, "year": {}, "source": {}})
        for column, values in family.items():
            values[row.texts[column]] = None
    listed = [
        (family, ", ".join(found["gpu_name"]), _years(list(found["year"])), _few(list(found["source"])))
        for family, found in sorted(known.items())
    ]
    return f"{FAMILIES}\n{table(('family', 'GPU', 'year', 'source'), listed)}"


def _few(sources: list[str]) -> str:
    """Return one source, and how many others of its kind there are."""
    return sources[0] if len(sources) == 1 else f"{sources[0]}, and {len(sources) - 1} more of it"


def _years(years: list[str]) -> str:
    known = sorted(year for year in years if year)
    return f"{known[0]} to {known[-1]}" if len(known) > 1 else "".join(known)


def _shared() -> str:
    fitted = constants()
    rows = [
        (one.group, one.key, f"{one.value:.3f}", f"{one.prior:.2f}", f"{one.low:g} to {one.high:g}") for one in fitted
    ]
    causes = catalog.entry("calibration", "shared")["causes"]
    return "\n".join(
        [
            SHARED.format(count=len(fitted)),
            table(("group", "of", "value", "prior", "bounds"), rows, (2, 3, 4)),
            *(f"- *{group}*: {' '.join(str(cause).split())}" for group, cause in causes.items()),
            "",
        ]
    )


def shipped_part(text: str) -> str:
    """Return the page without sections about other data: their headings end with a date."""
    return re.sub(r"^## [^\n]*\d{4}\n.*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def rounded(text: str) -> str:
    """Return `text` with every number to three digits.

    >>> rounded("| KOR | 9 | 4.1234% |")
    '| KOR | 9 | 4.12% |'
    """
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3g}", text)
