"""The fields of the page say what the scenario says, and every choice they offer is one that the reader knows."""

import pytest

from simulator import catalog, shipped
from simulator.errors import ScenarioError
from simulator.explorer import asked, fields, link
from simulator.explorer.fields import KEYS, Field
from simulator.studies.point import Base

RACK = link.read({link.SCENARIO: ["tutorial/3-failures"]})


def offered(base: Base) -> dict[str, Field]:
    groups = fields.fields(asked.document(base), base.read().resolved, base.catalogs)
    return {field.key: field for group in groups.values() for field in group}


@pytest.mark.parametrize("name", shipped.names())
def test_to_write_what_a_field_says_changes_nothing(name):
    base = link.read({link.SCENARIO: [name]})
    for field in offered(base).values():
        text = fields.said(field.text, field.key)
        again = asked.of_kind(base, field.key, text) if field.kinds and text != "null" else base
        again = again if field.kinds else asked.changed(base, field.key, text)
        assert again.read().resolved == base.read().resolved, field


def test_models_hosts_stacks_and_failures_come_from_the_catalog():
    found = offered(RACK)
    assert set(catalog.names("model")) <= set(found["model"].options)
    assert set(catalog.names("host")) <= set(found["cluster.host"].options)
    assert set(catalog.names("stack")) <= set(found["stack"].options)
    assert set(catalog.names("failures")) <= set(found["failures"].options)


def test_a_field_is_there_only_where_the_kind_has_the_key():
    assert "checkpoint.interval" not in offered(asked.of_kind(RACK, "checkpoint", "young"))
    assert offered(asked.of_kind(RACK, "checkpoint", "fixed"))["checkpoint.interval"].text == "30min"
    assert "parallelism.schedule.chunks" not in offered(asked.of_kind(RACK, "parallelism.schedule", "1f1b"))


def test_experts_are_asked_for_only_where_there_are_some():
    assert "parallelism.expert" not in offered(RACK)
    assert "parallelism.expert" in offered(asked.changed(RACK, "model", "mixtral-8x7b"))


def test_recovery_is_asked_for_only_where_something_fails():
    assert "recovery.restart" not in offered(asked.changed(RACK, "failures", "null"))


def test_every_kind_that_is_offered_is_read_or_says_what_it_lacks():
    for key in ("checkpoint", "parallelism.schedule", "cluster.topology"):
        for kind in offered(RACK)[key].options:
            text = fields.said(kind, key)
            changed = asked.changed(RACK, key, text) if text == "null" else asked.of_kind(RACK, key, kind)
            try:
                changed.read()
            except ScenarioError as error:
                assert "unknown" not in str(error)  # noqa: PT017 - some kinds need more than a name


def test_every_key_is_explained_or_named():
    for key in KEYS:
        assert fields.about(key) == fields.about(key).strip()


def test_a_catalog_of_ones_own_is_offered(tmp_path):
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "mine.yaml").write_text("base: hgx-h100\nsource: me\n")
    assert "mine" in offered(Base(RACK.name, RACK.source, (), (str(tmp_path),)))["cluster.host"].options


def test_what_is_typed_instead_of_left_out_is_null():
    assert fields.said("smallest non-blocking", "cluster.topology") == "null"
    assert fields.said("", "cluster.spares") == "null"
    assert fields.said(" 4 ", "cluster.spares") == "4"
