"""The reader's own message stands beside the field that it is about."""

import pytest

from simulator.errors import ScenarioError
from simulator.explorer import link
from simulator.explorer.fields import KEYS
from simulator.explorer.mistakes import by_field
from simulator.studies.point import Base

RACK = link.read({link.SCENARIO: ["tutorial/3-failures"]})


def messages(*changes: str) -> dict[str, list[str]]:
    with pytest.raises(ScenarioError) as error:
        Base(RACK.name, RACK.source, changes).read()
    return by_field(error.value, KEYS)


def test_a_wrong_value_is_told_beside_its_field():
    assert list(messages("cluster.hosts=many")) == ["cluster.hosts"]


def test_a_layout_that_does_not_divide_is_told_of_the_layout():
    (message,) = messages("parallelism.tensor=7")["parallelism"]
    assert "not divisible by tensor 7" in message


def test_all_mistakes_are_told_at_once():
    assert set(messages("cluster.hosts=0", "training.global_batch=x")) >= {"cluster.hosts", "training.global_batch"}


def test_a_key_that_does_not_exist_belongs_to_no_field():
    assert list(messages("foo=1")) == [""]


def test_what_is_wrong_inside_a_field_is_told_beside_it():
    assert "cluster.host" in messages("cluster.host={base: hgx-h100, gpu: {sms: none}}")
