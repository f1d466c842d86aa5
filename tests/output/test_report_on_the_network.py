"""The section on the network: load of every class, the busiest named, and from what bandwidth on more is no use."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from example_result import llama
from typer.testing import CliRunner

from simulator.cli import app
from simulator.report import html, network, text
from simulator.report.section import Section


@pytest.fixture
def section() -> Section:
    found = network.section(llama())
    assert found is not None
    return found


def test_the_busiest_class_is_named(section):
    assert section.answer == "the busiest links, spine to core, are busy 61.0% of the step"


def test_every_class_has_its_peak_load(section):
    assert [part.label for part in section.parts] == [
        "scale-up, 450 GB/s",
        "nic to leaf, 50.0 GB/s",
        "leaf to spine, 50.0 GB/s",
        "spine to core, 50.0 GB/s",
    ]
    assert [part.share for part in section.parts] == [0.17, 0.09, 0.12, 0.61]


def test_the_mean_is_told_where_links_of_a_class_are_not_alike(section):
    """39 GB on the busiest and 31 GB in the mean: 12% and 9.5% of the step."""
    (mean,) = [fact for fact in section.facts if fact.label == "mean"]
    assert (mean.value, mean.note) == ("9.5%", "of the step, links leaf to spine")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("tensor", "no bandwidth is known from which more would save under 1% of the step"),
        ("pipeline", "from 166 GB/s on, more would save under 1% of the step"),
        ("data", "from 40.0 GB/s on, more would save under 1% of the step"),
    ],
)
def test_the_bandwidth_from_which_more_is_no_use_is_told(section, part, words):
    (fact,) = [fact for fact in section.facts if fact.label == part]
    assert fact.note.endswith(words)


def test_text_and_page_have_the_section():
    result = llama()
    assert "NETWORK  the busiest links" in text.write(result)
    assert "from 166 GB/s on, more would save under 1% of the step" in html.write(result)


def test_without_links_there_is_no_section():
    result = llama()
    assert network.section(replace(result, step=replace(result.step, links=()))) is None


def test_a_run_prints_load_and_transfers_as_json():
    done = CliRunner().invoke(app, ["run", "studies/fewer-nics", "--runs", "1", "--json"])
    step = json.loads(done.stdout)["step"]
    assert [link["name"] for link in step["links"]] == ["scale-up", "nic"]
    (data,) = step["transfers"]
    assert (data["part"], data["links"]) == ("data", "nic")
    assert data["hidden_at_bytes_per_s"] > data["bandwidth_bytes_per_s"] / 64
