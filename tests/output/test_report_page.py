"""The report as a page: one file, nothing fetched, nothing run, everything escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from simulator.outcome.results import Assumption, Result
from simulator.report import html

VOID = {"meta", "br", "wbr", "img", "input", "link", "hr"}


class Tags(HTMLParser):
    """Checks that tags nest, and collects them with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(result: Result) -> str:
    return html.write(result)


def test_tags_nest(page: str) -> None:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert sum(tag == "svg" for tag, _ in tags.seen) == 7


def test_page_fetches_and_runs_nothing(page: str) -> None:
    tags = Tags()
    tags.feed(page)
    assert not {"script", "link", "iframe", "object", "embed"} & {tag for tag, _ in tags.seen}
    for _, attributes in tags.seen:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    assert not re.search(r"url\((?!#)|@import", page)


def test_everything_from_the_scenario_is_escaped(result: Result) -> None:
    evil = "<script>alert('x')</script>"
    links = ({**result.step.links[0], "name": evil},)
    causes = result.run.interruptions | {"by_cause": {evil: 3.0}}
    told = html.write(
        replace(
            result,
            scenario={"name": evil, "source": evil, evil: evil},
            warnings=(evil,),
            assumptions=(Assumption(key=evil, value=evil, source=evil),),
            not_modelled=(evil,),
            step=replace(result.step, links=links, mfu_convention=evil),
            run=replace(result.run, interruptions=causes),
        )
    )
    assert "<script" not in told
    assert told.count("&lt;script&gt;") >= 10


def test_page_is_the_same_every_time(page: str, result: Result) -> None:
    assert html.write(result) == page


def test_every_result_has_a_page(any_result: Result) -> None:
    assert html.write(any_result).endswith("</html>\n")


def test_page_is_small(page: str) -> None:
    assert len(page) < 400_000
