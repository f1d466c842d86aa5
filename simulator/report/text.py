"""The report for a terminal: 80 columns, readable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.io.printable import Page
from simulator.io.terminal import page
from simulator.io.terminal import words as _text
from simulator.outcome.results import Result
from simulator.report.section import Fact, Part, Section
from simulator.report.story import sections
from simulator.report.verdict import answers, figures, subtitle

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

BAR = 26
SELF_EVIDENT = ("wall clock", "cost")
EIGHTHS = " ▏▎▍▌▋▊▉"


def write(result: Result, console: Console | None = None) -> Page:
    """Return the report as text, with the colours that `console` shows; plain without one."""
    return page(_blocks(result), console)


def _blocks(result: Result) -> list[RenderableType]:
    blocks: list[RenderableType] = [
        *(
            _text(one.word.upper(), f"bold {one.colour}") + _text(f"  {one.sentence}", "bold")
            for one in answers(result)
        ),
        _text(_in_short(result)),
        _text(""),
        _text(result.scenario.get("name") or "Unnamed scenario", "bold"),
        _text(subtitle(result), "dim"),
    ]
    for section in sections(result):
        blocks += _section(section)
    return blocks


def _in_short(result: Result) -> str:
    return "  |  ".join(
        fact.value if fact.label in SELF_EVIDENT else f"{fact.label} {fact.value}" for fact in figures(result)
    )


def _section(section: Section) -> list[RenderableType]:
    answer = f"  {section.answer}" if section.answer else ""
    blocks: list[RenderableType] = [_text(""), _text(section.title.upper(), "bold") + _text(answer)]
    if section.parts:
        blocks.append(_parts(section.parts))
    if section.facts:
        blocks += [_text("")] if section.parts else []
        blocks.append(_facts(section.facts))
    blocks += [_hanging(note) for note in section.notes]
    return blocks


def _parts(parts: tuple[Part, ...]) -> Table:
    table = _grid()
    table.add_column(max_width=32)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, width=BAR)
    for part in parts:
        table.add_row(
            "",
            _text(part.label),
            _text(part.value),
            _text(f"{100 * part.share:.1f}%"),
            _text(_bar(part.share), part.colour),
        )
    return table


def _facts(facts: tuple[Fact, ...]) -> Table:
    table = _grid()
    table.add_column(width=_width([fact.label for fact in facts], 36), overflow="fold")
    table.add_column(width=_width([fact.value for fact in facts], 20), overflow="fold")
    table.add_column(overflow="fold", ratio=1)
    for fact in facts:
        table.add_row("", _text(fact.label), _text(fact.value, "bold"), _text(fact.note, "dim"))
    return table


def _width(words: list[str], most: int) -> int:
    return min(max(map(len, words)), most)


def _grid() -> Table:
    """Return a table without lines whose first column is the indentation."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=0)
    return table


def _hanging(note: str) -> Table:
    table = _grid()
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_row("", "-", _text(note))
    return table


def _bar(share: float) -> str:
    """Return a bar in eighths of a character."""
    eighths = round(min(max(share, 0.0), 1.0) * BAR * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
