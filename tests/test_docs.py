"""The documentation says what the program does: examples run, generated pages are current, links lead somewhere."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from pathlib import Path

import pytest

from simulator import catalog, shipped
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.outcome import results
from simulator.outcome.results import RUN_PARTS, STAGE_PARTS, STEP_PARTS
from simulator.scenario import read
from simulator.simulation import simulate
from simulator.studies import columns
from simulator.validation import lines

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import generate  # noqa: E402
from generators import examples, left_out, validation  # noqa: E402

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
SHOWING = examples.pages(ROOT)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", SHOWING, ids=name)
def test_commands_print_what_the_page_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert examples.replayed(text, ROOT) == text, "run python docs/generate.py examples"


def test_generated_pages_are_current() -> None:
    assert [name(page) for page in generate.stale(generate.pages())] == [], "run python docs/generate.py"


@pytest.mark.slow
@pytest.mark.skipif("VALIDATION" not in os.environ, reason="simulates every row three times: by hand, VALIDATION=1")
def test_the_page_on_validation_says_what_the_tables_give() -> None:
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    said, found = (validation.rounded(validation.shipped_part(text)) for text in (page, validation.page()))
    assert said == found, "run python docs/generate.py validation"


def test_the_page_on_validation_has_the_section_that_the_files_of_left_out_runs_give() -> None:
    assert left_out.section() in (DOCS / "validation.md").read_text(encoding="utf-8"), "run docs/generate.py left-out"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text)
    local = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.skipif(not (ROOT / "simulator").is_dir(), reason="the sources are not beside the tests")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`((?:simulator|topologies|scenarios|tests)/[\w./-]+\.\w+)`", page.read_text(encoding="utf-8"))
    patterns = ("/name.", "KIND", "...")
    real = [path for path in named if not any(word in path for word in patterns)]
    assert [path for path in real if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", sorted((DOCS / "concepts").glob("*.md")), ids=name)
def test_a_concept_page_ends_with_limits(page: Path) -> None:
    assert re.search(r"^(Limits: |## Limits$)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_field_of_a_result_is_on_its_page() -> None:
    page = (DOCS / "reference" / "result.md").read_text(encoding="utf-8")
    parts = (*STEP_PARTS, *RUN_PARTS, *STAGE_PARTS)
    classes = [found for found in vars(results).values() if dataclasses.is_dataclass(found)]
    classes = [found for found in classes if found.__module__ == results.__name__]
    one = simulate(read(shipped.find("tutorial/1-one-host"), overrides=["runs=1"]))
    hidden = set(vars(one)) - set(one.as_dict())
    fields = {field.name for cls in classes for field in dataclasses.fields(cls)} - hidden
    known = {part for word in re.findall(r"\w+", page) for part in (word, word.removesuffix("_bytes"))}
    words = {*fields, *parts, *columns.COLUMNS, *lines.COLUMNS}
    assert sorted(words - known) == []


def test_every_kind_has_its_line_in_the_concepts() -> None:
    from simulator.kinds import kinds
    from simulator.machine.collectives.base import Collective
    from simulator.reliability.checkpointing.base import CheckpointPolicy
    from simulator.reliability.failures.base import Cause
    from simulator.studies.plan.laws.base import Law
    from simulator.workload.schedules import Schedule
    from topologies.base import Topology

    rooms = {
        "topologies": ("topologies", Topology),
        "collectives": ("simulator.machine.collectives", Collective),
        "schedules": ("simulator.workload.schedules", Schedule),
        "checkpoints": ("simulator.reliability.checkpointing", CheckpointPolicy),
        "failures": ("simulator.reliability.failures", Cause),
        "scaling-laws": ("simulator.studies.plan.laws", Law),
    }
    missing = []
    for page, (package, base) in rooms.items():
        text = (DOCS / "concepts" / f"{page}.md").read_text(encoding="utf-8")
        shipped = [kind for kind, cls in kinds(package, base).items() if cls.__module__.startswith(package)]
        missing += [f"{page}: {kind}" for kind in shipped if f"`{kind}`" not in text]
    assert missing == []


def test_every_attention_kernel_is_named() -> None:
    kernels = {name for one in gpus() for name in one.kernels.attention}
    page = (DOCS / "concepts" / "kernels.md").read_text(encoding="utf-8")
    assert sorted(name for name in kernels if f"`{name}`" not in page) == []


def gpus() -> list[Gpu]:
    return [hardware.gpu(each) for each in catalog.names("gpu")]
