"""What a section may say follows from the dataclasses that exist; a new kind is read by being there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import pytest

from simulator.errors import ScenarioError
from simulator.scenario.derive import build
from simulator.scenario.document import placed
from simulator.scenario.echo import echo
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.sections import SHAPES, Sections
from simulator.scenario.shape import Kinds, Record, shape


@dataclass(frozen=True, kw_only=True)
class Circle:
    kind: ClassVar[str] = "circle"
    radius: Annotated[float, "B"]


@dataclass(frozen=True, kw_only=True)
class Square:
    kind: ClassVar[str] = "square"
    side: Annotated[int, "count"] = 1
    corners: Literal["sharp", "round"] = "sharp"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    figure: Circle | Square
    sizes: tuple[Annotated[float, "s"], ...] = ()
    pair: tuple[str, str] | None = None
    speed: Annotated[float, "number"] | tuple[Annotated[float, "number"], ...] = 1.0
    survives: Annotated[float, "share"] | Literal["host", "rack"] = 1.0
    filled: bool = False


def read(**written):
    mistakes = Mistakes()
    made = build(shape(Drawing), placed(written, None), (), mistakes)
    mistakes.stop()
    return made


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ({"figure": "square"}, Drawing(figure=Square())),
        ({"figure": {"radius": "1kB"}}, Drawing(figure=Circle(radius=1000.0))),
        ({"figure": {"kind": "square", "side": 3}}, Drawing(figure=Square(side=3))),
        ({"figure": "square", "sizes": ["1s", "1min"]}, Drawing(figure=Square(), sizes=(1.0, 60.0))),
        ({"figure": "square", "pair": ["a", "b"]}, Drawing(figure=Square(), pair=("a", "b"))),
        ({"figure": "square", "speed": 2}, Drawing(figure=Square(), speed=2.0)),
        ({"figure": "square", "speed": [1, 7]}, Drawing(figure=Square(), speed=(1.0, 7.0))),
        ({"figure": "square", "survives": "90%"}, Drawing(figure=Square(), survives=0.9)),
        ({"figure": "square", "survives": "rack"}, Drawing(figure=Square(), survives="rack")),
        ({"figure": "square", "filled": True}, Drawing(figure=Square(), filled=True)),
    ],
)
def test_a_dataclass_is_its_own_input(written, made):
    assert read(**written) == made
    assert read(**echo(shape(Drawing), made)) == made


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"figure": {"side": 3, "radius": "1B"}}, "figure: `kind` is missing"),
        ({"figure": {"kind": "circle"}}, "figure: `radius` is missing"),
        (
            {"figure": {"kind": "circle", "radius": "1B", "side": 2}},
            "figure.side: unknown key of kind circle; it is one",
        ),
        ({"figure": "square", "pair": ["a"]}, "pair: a list of 2 belongs here"),
        ({"figure": "square", "pair": ["a", "b", "c"]}, "pair: a list of 3 where one of 2 belongs"),
        (
            {"figure": "square", "survives": "pod"},
            "survives: `pod` is not a share such as `8%` or `0.08` or one of host",
        ),
        ({"figure": "square", "speed": {"a": 1}}, "speed: a mapping where a list or a scalar belongs"),
        ({"figure": "square", "sizes": ["1s", "2"]}, "sizes[1]: `2` has no unit"),
    ],
)
def test_what_does_not_fit_is_named(written, message):
    mistakes = Mistakes()
    build(shape(Drawing), placed(written, None), (), mistakes)
    with pytest.raises(ScenarioError) as caught:
        mistakes.stop()
    assert message in str(caught.value)


def test_every_section_and_kind_can_be_written():
    def visit(wanted):
        if isinstance(wanted, Kinds):
            assert wanted.records, wanted.name
        records = wanted.records if isinstance(wanted, Kinds) else (wanted,) if isinstance(wanted, Record) else ()
        for record in records:
            for field in record.fields.values():
                visit(field.shape)

    assert SHAPES.keys() == Sections.__dataclass_fields__.keys()
    for field in SHAPES.values():
        visit(field.shape)
