"""The reference pages are what the code says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import verbs

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "generate.py"))


def sections(page: str) -> dict[str, str]:
    return dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL))


def test_every_verb_has_a_section(generated: dict[str, Any]) -> None:
    assert set(sections(generated["commands"]())) == set(verbs())


def test_sections_that_are_committed_are_verbs(generated: dict[str, Any]) -> None:
    committed = sections((DOCS / "reference" / "cli.md").read_text(encoding="utf-8"))
    assert set(committed) <= set(verbs())


def test_glossary_is_in_order() -> None:
    page = (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\w[^\n]*)\n  ", page.partition("```{glossary}")[2], flags=re.MULTILINE)
    assert len(terms) > 30
    assert terms == sorted(terms, key=str.lower)
