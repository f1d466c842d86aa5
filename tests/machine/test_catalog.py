"""The catalog: every entry has a source, every name means one thing, and no name is a path."""

from __future__ import annotations

from collections import defaultdict

import pytest

from simulator import catalog
from simulator.errors import ScenarioError


def entries() -> list[tuple[str, str]]:
    return [(kind, name) for kind in catalog.KINDS for name in catalog.names(kind)]


def aliases(kind: str, name: str) -> list[str]:
    try:
        return catalog.entry(kind, name).get("aliases", [])
    except catalog.UnknownEntryError:
        return []


@pytest.mark.parametrize("kind,name", entries())
def test_every_entry_says_where_it_comes_from(kind: str, name: str):
    try:
        source = catalog.entry(kind, name)["source"]
    except catalog.UnknownEntryError:
        assert all(row["source"] for row in catalog.csv_rows(kind, name))
    else:
        assert isinstance(source, str)


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_spelling_means_one_entry(kind: str):
    meanings = defaultdict(set)
    for name in catalog.names(kind):
        for spelling in (name, *aliases(kind, name)):
            meanings[spelling.lower().replace(" ", "-").replace("_", "-")].add(name)
    assert {spelling: names for spelling, names in meanings.items() if len(names) > 1} == {}


def test_scalars_are_text_so_that_the_field_decides():
    assert catalog.entry("gpu", "h100-sxm-80gb")["peak"]["bf16"] == "989.4TFLOPS"
    assert catalog.entry("host", "dgx-a100")["nics"] == "8"


def test_an_alias_is_read_without_regard_to_case_and_spaces():
    assert catalog.canonical("gpu", "A100-80GB-SXM") == "a100-sxm-80gb"
    assert catalog.canonical("gpu", "h100 sxm") == "h100-sxm-80gb"


def test_an_unknown_name_suggests_what_looks_like_it():
    with pytest.raises(catalog.UnknownEntryError, match="did you mean") as error:
        catalog.entry("gpu", "h100-smx-80gb")
    assert "h100-sxm-80gb" in error.value.suggestions
    assert isinstance(error.value, KeyError)
    assert isinstance(error.value, ScenarioError)


@pytest.mark.parametrize("name", ["../x", "../../gpu/b200", "/etc/passwd", "..", ".", "", "gpu/b200", "b200.yaml"])
def test_a_name_is_never_a_path(name: str):
    with pytest.raises(catalog.UnknownEntryError):
        catalog.entry("gpu", name)


def test_a_kind_that_does_not_exist_is_unknown():
    with pytest.raises(catalog.UnknownEntryError, match="did you mean host"):
        catalog.names("hosts")


def test_a_catalog_of_the_user_comes_first(tmp_path):
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "b200.yaml").write_text("memory: 1GiB\nsource: mine\n")
    assert catalog.entry("gpu", "b200", [tmp_path])["source"] == "mine"
    assert catalog.entry("gpu", "h100", [tmp_path])["architecture"] == "hopper"
    assert "b200" in catalog.names("gpu", [tmp_path])


@pytest.mark.parametrize("text", ["", "- a", "memory: 1GiB", "a: ["])
def test_a_broken_entry_is_an_error_that_names_its_file(tmp_path, text: str):
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "mine.yaml").write_text(text)
    with pytest.raises(ScenarioError, match=r"mine\.yaml"):
        catalog.entry("gpu", "mine", [tmp_path])


def test_what_a_caller_does_to_an_entry_stays_with_the_caller():
    catalog.entry("gpu", "b200")["peak"].clear()
    assert catalog.entry("gpu", "b200")["peak"]
