"""The page on accuracy: every published measurement that ships, beside its prediction."""

from __future__ import annotations

import re

from simulator.cli.validate import Predict
from simulator.validation import files
from simulator.validation import page as written
from simulator.validation.summary import Summary, summary
from simulator.validation.workers import processors


def figures() -> Summary:
    """Return the figures of the tables that ship; this predicts every row."""
    tables = [files.read(path) for path in files.shipped()]
    return summary(files.lines(tables, Predict(frozenset()), workers=processors()))


def page() -> str:
    """Return the page."""
    return written.write(figures())


def shipped_part(text: str) -> str:
    """Return the page without what stands on it about other data, under headings that end with a date."""
    return re.sub(r"^## [^\n]*\d{4}\n.*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def rounded(text: str) -> str:
    """Return `text` with every number to three digits.

    >>> rounded("| KOR | 9 | 4.1234% |")
    '| KOR | 9 | 4.12% |'
    """
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3g}", text)
