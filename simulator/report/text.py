"""The report for a terminal: 80 columns, readable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.plots import colours
from simulator.report.section import Fact, Part, Section
from simulator.report.story import sections
from simulator.report.verdict import figures, subtitle, verdict
from simulator.results import Result

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

WIDTH = 80
BAR = 26
SELF_EVIDENT = ("wall clock", "cost")
EIGHTHS = " ▏▎▍▌▋▊▉"


def write(result: Result, console: Console | None = None) -> str:
    """Return the report as text, with the colours that `console` shows; plain without one."""
    from rich.console import Console

    console = console or Console(width=WIDTH, no_color=True, color_system=None, force_terminal=False)
    console.width = min(console.width, WIDTH)
    with console.capture() as captured:
        for block in _blocks(result):
            console.print(block, highlight=False, emoji=False, markup=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def _blocks(result: Result) -> list[RenderableType]:
    word, sentence = verdict(result)
    colour = colours.VERDICT.get(result.verdict or "", colours.DARK_GREY)
    colour = colour if result.run.progress else colours.VERMILLION
    first = _text(word.upper(), f"bold {colour}") + _text(f"  {sentence}", "bold")
    blocks: list[RenderableType] = [
        first,
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


def plain(words: str) -> str:
    """Return `words` without control characters, which could move the cursor of a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in words)


def _text(words: str, style: str = "") -> Text:
    """Return text that means itself, without markup."""
    from rich.text import Text

    return Text(plain(words), style=style)
