"""The left side: the keys of the scenario, each with what is wrong with it beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from simulator import shipped
from simulator.errors import ScenarioError
from simulator.explorer import asked, fields, link, mistakes, state
from simulator.explorer.desk import desk
from simulator.explorer.fields import Field
from simulator.explorer.wording import literal
from simulator.studies.point import Base

OPEN = ("Model and batch", "Cluster", "Layout")


def show(base: Base, valid: Base | None, error: ScenarioError | None) -> None:
    """Draw the fields of `base`; defaults are those of the last scenario that could be read."""
    wrong = mistakes.by_field(error, fields.KEYS) if error else {}
    with st.sidebar:
        _start(base)
        resolved = valid.read().resolved if valid else {}
        for group, ones in _fields(base, resolved).items():
            with st.expander(group, expanded=group in OPEN, key=f"group {group}"):
                _group(base, ones, wrong)
        _other(base, wrong)
        _text(base)


def _fields(base: Base, resolved: dict[str, Any]) -> dict[str, list[Field]]:
    """Return the fields of each group; none where the text is no YAML, which the page says above."""
    try:
        return fields.fields(asked.document(base), resolved, base.catalogs)
    except ScenarioError:
        return {}


def _start(base: Base) -> None:
    names = [*([desk.given.name] if desk.given and desk.given.name not in shipped.names() else []), *shipped.names()]
    known = names if base.name in names else [base.name, *names]
    st.session_state["start"] = base.name
    st.selectbox("start from", known, key="start", on_change=_started, help="A shipped scenario, or the one given.")
    if base.changes:
        count = len(base.changes)
        words = "undo the change" if count == 1 else f"undo {count} changes"
        st.button(words, on_click=_undone, key="undo", width="stretch")


def _started() -> None:
    name = st.session_state["start"]
    given = desk.given
    if given is not None and name == given.name:
        state.show(given)
    elif name in shipped.names():
        state.show(link.read({link.SCENARIO: [name]}, given, desk.catalogs))


def _undone() -> None:
    state.show(replace(st.session_state["base"], changes=()))


def _group(base: Base, ones: list[Field], wrong: dict[str, list[str]]) -> None:
    """Draw the fields of a group, those with short words two in a row; what is wrong stands below its row."""
    row: list[Field] = []
    for field in ones:
        if field.key in fields.WIDE:
            _row(base, row, wrong)
            _row(base, [field], wrong)
            row = []
        else:
            row.append(field)
            if len(row) == 2:
                _row(base, row, wrong)
                row = []
    _row(base, row, wrong)


def _row(base: Base, row: list[Field], wrong: dict[str, list[str]]) -> None:
    if not row:
        return
    alone = row[0].key in fields.WIDE
    for spot, field in zip([st.container()] if alone else st.columns(2, wrap=False, gap="xsmall"), row, strict=False):
        with spot:
            _field(base, field)
    for field in row:
        _messages(base, field.key, wrong)


def _field(base: Base, field: Field) -> None:
    key = f"key {field.key}"
    st.session_state[key] = field.text
    about = literal(f"{field.key}: {field.about}" if field.about else field.key)
    if field.options:
        st.selectbox(
            field.label,
            field.options,
            key=key,
            help=about,
            accept_new_options=field.free,
            on_change=_chosen,
            args=(field,),
        )
    else:
        st.text_input(field.label, key=key, help=about, on_change=_chosen, args=(field,))


def _chosen(field: Field) -> None:
    text = fields.said(st.session_state[f"key {field.key}"] or "", field.key)
    base = st.session_state["base"]
    if field.kinds and text != asked.NOTHING:
        state.show(asked.of_kind(base, field.key, text))
    else:
        state.change(field.key, text)


def _messages(base: Base, key: str, wrong: dict[str, list[str]]) -> None:
    """Write what is wrong with a field; what is wrong with a section stands at the field changed last."""
    section = key.partition(".")[0]
    last = [change.partition("=")[0] for change in base.changes if change.startswith(f"{section}.")][-1:]
    said = wrong.get(key, []) + (wrong.get(section, []) if key != section and last == [key] else [])
    for message in said:
        st.error(literal(message))


def _other(base: Base, wrong: dict[str, list[str]]) -> None:
    """Offer every other key, as ``--set`` takes it."""
    with st.expander("Any other key", expanded=False, key="group other"):
        st.text_input(
            "KEY=VALUE",
            key="other",
            placeholder="cluster.placement=scattered",
            on_change=_set,
            help="As `foretrain run --set` takes it.",
        )
        for change in base.changes:
            st.button(literal(f"✕ {change}"), key=f"drop {change}", on_click=_dropped, args=(change,), type="tertiary")
        for message in wrong.get("", []):
            st.error(literal(message))


def _set() -> None:
    words = st.session_state["other"].strip()
    st.session_state["other"] = ""
    if words:
        base = st.session_state["base"]
        state.show(replace(base, changes=(*base.changes, words)))


def _dropped(change: str) -> None:
    base = st.session_state["base"]
    state.show(replace(base, changes=tuple(one for one in base.changes if one != change)))


def _text(base: Base) -> None:
    """Offer the scenario as text, to paste another one."""
    with st.expander("As YAML", expanded=False, key="group yaml"), st.form("yaml", border=False):
        text = st.text_area("scenario", asked.as_yaml(base), height=320, key=f"text {hash(base)}")
        if st.form_submit_button("Read this text"):
            state.show(link.of_text(text, base.name, base.catalogs, base.only or ()))
            st.rerun()
