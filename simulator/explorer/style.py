"""How the page looks: the palette of the report, and a few sizes that Streamlit leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from simulator.explorer.figures import Figure
from simulator.plots import colours

ICON = "▮"
THEME: dict[str, Any] = {
    "theme.base": "light",
    "theme.primaryColor": colours.BLUE,
    "theme.textColor": colours.INK,
    "theme.backgroundColor": colours.PAPER,
    "theme.secondaryBackgroundColor": "#F6F8FA",
    "theme.baseRadius": "small",
}
SHEET = """<style>
[data-testid="stMainBlockContainer"] { padding: 3rem 2rem; max-width: 80rem; }
[data-testid="stSidebar"] [data-testid="stVerticalBlock"] { gap: 0.6rem; }
[data-testid="stSidebar"] [data-testid="stColumn"] { min-width: 0; flex: 1 1 0; }
[data-testid="stSidebar"] [data-testid="stWidgetLabel"] p { white-space: nowrap; font-size: 0.8rem; }
[data-testid="stSidebar"] [data-testid="stExpanderDetails"] { padding: 0.25rem 0.75rem 0.75rem; }
[data-testid="stAlertContainer"] { padding: 0.7rem 1rem; overflow-wrap: anywhere; }
[class*="st-key-fit"] button, [class*="st-key-lever"] button { min-height: 1.8rem; padding: 0 0.6rem; }
h1.scenario { font-size: 1.6rem; line-height: 1.25; margin: 0; padding: 0; overflow-wrap: anywhere; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.2rem, 1fr)); gap: 0.6rem;
  margin: 0 !important; padding: 0 !important; }
dl.figures div { background: #F6F8FA; border-radius: 0.25rem; padding: 0.55rem 0.8rem; }
dl.figures dt { font-size: 0.8rem; color: #57606A; font-weight: 400; }
dl.figures dd { margin: 0; font-size: 1.3rem; font-weight: 650; font-variant-numeric: tabular-nums; }
dl.figures small { display: block; font-size: 0.78rem; font-weight: 400; color: #57606A; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 3.5rem 0.9rem; }
  dl.figures { grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); }
  [data-testid="stImage"] { overflow-x: auto; }
  [data-testid="stImage"] img { width: 42rem !important; max-width: none !important; }
}
</style>"""


def title(name: str) -> str:
    return f'<h1 class="scenario">{escape(name)}</h1>'


def figures(told: Iterable[Figure]) -> str:
    """Return figures as a list of terms, side by side as far as there is room."""
    rows = (
        f"<div><dt>{escape(label)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for label, value, note in told
    )
    return f'<dl class="figures">{"".join(rows)}</dl>'
