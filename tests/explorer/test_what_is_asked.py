"""Changes of a scenario: kept short, written as YAML and as a command, carried by an address."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import ScenarioError
from simulator.explorer import asked, link
from simulator.scenario import read
from simulator.studies.point import Base

TEXT = """version: 1
name: eight
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 2}
stack: megatron-core-2024
parallelism: {tensor: 2, pipeline: 2, schedule: 1f1b}
training: {steps: 10, sequence_length: 4096, global_batch: 64, microbatch: 1}
failures: llama3
checkpoint: {kind: fixed, interval: 10min, mode: async}
"""
START = link.of_text(TEXT, "eight")


def test_a_change_is_what_set_takes():
    assert asked.changed(START, "parallelism.tensor", "4").changes == ("parallelism.tensor=4",)


def test_a_key_is_changed_once():
    once = asked.changed(START, "parallelism.tensor", "4")
    assert asked.changed(once, "parallelism.tensor", "8").changes == ("parallelism.tensor=8",)


def test_a_change_back_leaves_the_list():
    assert asked.changed(asked.changed(START, "cluster.hosts", "4"), "cluster.hosts", "2") == START


def test_a_change_of_a_section_drops_the_changes_inside_it():
    inside = asked.changed(START, "cluster.host.nics", "4")
    assert asked.changed(inside, "cluster.host", "dgx-a100").changes == ("cluster.host=dgx-a100",)


def test_another_kind_keeps_what_means_something_to_it():
    assert asked.of_kind(START, "checkpoint", "young").changes == ("checkpoint={kind: young, mode: async}",)


def test_another_kind_gets_the_keys_that_it_needs():
    chunked = asked.of_kind(START, "parallelism.schedule", "interleaved-1f1b")
    assert chunked.changes == ("parallelism.schedule={kind: interleaved-1f1b, chunks: 2}",)
    assert chunked.read().parallelism.schedule.chunks == 2


def test_the_first_kind_again_is_no_change():
    assert asked.of_kind(asked.of_kind(START, "checkpoint", "young"), "checkpoint", "fixed") == START


def test_a_key_that_is_left_out_is_null():
    alone = asked.changed(START, "failures", "null")
    assert alone.read().failures.causes == ()
    assert asked.changed(alone, "failures", "llama3") == START


@pytest.mark.parametrize(
    "changes",
    [
        ("parallelism.tensor=4",),
        ("cluster.host.nics=4", "cluster.spares=1", "recovery.repair=24h"),
        ("failures=null", "checkpoint=young"),
        ("name='a: {b}, \"c\" # d'",),
        ("model={base: llama-3.1-8b, layers: 16}",),
    ],
)
def test_the_yaml_says_what_the_changes_say(changes):
    base = Base("eight", TEXT, changes)
    assert read(asked.as_yaml(base)) == base.read()


def test_the_yaml_of_no_change_is_the_text_itself():
    assert asked.as_yaml(START) == TEXT


def test_the_command_names_every_change_so_that_a_shell_reads_it():
    base = Base("mine.yaml", "mine.yaml", ("failures={preset: llama3, scale: 2}",), ("my catalog",))
    words = shlex.split(asked.command(base, "sweep", "--vary", "runs=[1, 2]"))
    assert words[:3] == ["foretrain", "sweep", "mine.yaml"]
    assert words[3:5] == ["--set", "failures={preset: llama3, scale: 2}"]
    assert words[5:] == ["--catalog", "my catalog", "--vary", "runs=[1, 2]"]


def test_a_text_that_was_pasted_is_a_file_to_be_saved():
    assert asked.command(START) == "foretrain run eight.yaml"


def test_an_address_carries_the_text_and_the_changes():
    base = asked.changed(START, "parallelism.tensor", "4")
    assert link.read(link.write(base, "Step")) == base


def test_an_address_names_a_shipped_scenario():
    base = link.read({link.SCENARIO: ["tutorial/2-a-rack"], link.SET: ["runs=7"]})
    assert link.write(base) == {link.SCENARIO: ["tutorial/2-a-rack"], link.SET: ["runs=7"]}
    assert base.read().runs == 7


def test_an_address_without_a_scenario_shows_what_the_server_was_started_with():
    assert link.read({}, START) == START


@pytest.mark.parametrize("name", ["/etc/passwd", "../../secret", "nothing", "<b>"])
def test_a_name_in_an_address_is_never_a_path(name):
    with pytest.raises(ScenarioError, match="no scenario named"):
        link.read({link.SCENARIO: [name]})


def test_a_text_in_an_address_is_never_a_path():
    found = link.read({link.TEXT: [link.packed("/etc/passwd")]})
    with pytest.raises(ScenarioError, match="mapping of keys"):
        found.read()


@pytest.mark.parametrize("letters", ["x", "!!", "eJw", link.packed("a: b, c: d")[:12], "é"])
def test_a_torn_address_says_so(letters):
    with pytest.raises(ScenarioError, match="link cut off"):
        link.unpacked(letters)


def test_an_address_cannot_blow_up():
    with pytest.raises(ScenarioError, match="larger than"):
        link.unpacked(link.packed("a" * 5_000_000))


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_comes_back_from_an_address(text):
    assert link.unpacked(link.packed(text)) == text
