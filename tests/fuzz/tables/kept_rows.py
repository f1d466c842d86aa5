"""A rows.jsonl that was damaged, edited, or belongs to somebody else, when a study starts again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from attack import OUT, Story, put
from process import Start, ran
from small import FAILING, ONE_HOST

STUDIES = {
    "sweep": ["sweep", ONE_HOST, "--vary", "training.microbatch=[1,2]", "--quick", "--jobs", "1", "--out", OUT],
    "layouts": [
        *("layouts", ONE_HOST, "--quick", "--jobs", "1", "--set", "search.context=[1]", "--set", "search.tensor=[1,2]"),
        *("--set", "search.microbatch=[1]", "--out", OUT),
    ],
    "stress": ["stress", FAILING, "--vary", "cluster.spares=[2,4]", "--runs", "2", "--jobs", "1", "--out", OUT],
}
Change = Callable[[list[bytes]], bytes]
Row = dict[str, Any]


def _edited(change: Callable[[Row], Any]) -> Change:
    """Return what writes the first row as another one."""

    def changed(lines: list[bytes]) -> bytes:
        row = json.loads(lines[0])
        new = change(row)
        return b"".join([json.dumps(row if new is None else new).encode() + b"\n", *lines[1:]])

    return changed


def _all(value: Any) -> Change:
    """Return what gives every column but the key the same value."""
    return _edited(lambda row: {name: row[name] if name in ("key", "sum") else value for name in row})


DAMAGED: dict[str, Change] = {
    "whole": b"".join,
    "empty": lambda lines: b"",
    "one byte": lambda lines: lines[0][:1],
    "torn in a line": lambda lines: b"".join(lines)[: len(lines[0]) // 2],
    "torn before the last break": lambda lines: b"".join(lines)[:-1],
    "without its first line": lambda lines: b"".join(lines[1:]),
    "its first line twice": lambda lines: lines[0] + b"".join(lines),
    "in another order": lambda lines: b"".join(reversed(lines)),
    "CRLF": lambda lines: b"".join(lines).replace(b"\n", b"\r\n"),
    "a byte order mark": lambda lines: b"\xef\xbb\xbf" + b"".join(lines),
    "a blank line": lambda lines: lines[0] + b"\n" + b"".join(lines[1:]),
    "NULs at the end": lambda lines: b"".join(lines) + b"\0" * 512,
    "a NUL inside": lambda lines: b"".join(lines).replace(b":", b"\0", 1),
    "no UTF-8": lambda lines: b"".join(lines).replace(b"e", b"\xff", 3),
    "deep": lambda lines: b"[" * 100_000 + b"\n" + b"".join(lines),
    "deep and torn": lambda lines: b"".join(lines) + b'{"key":' + b"[" * 100_000,
    "a number of 5,000 digits": lambda lines: b'{"key": "x", "a": ' + b"9" * 5_000 + b"}\n" + b"".join(lines),
    "a line of 5 MB": lambda lines: b'{"key": "' + b"x" * 5_000_000 + b'"}\n' + b"".join(lines),
    "NaN": _edited(lambda row: {**row, "mfu": float("nan")}),
    "a key alone": _edited(lambda row: {"key": row["key"]}),
    "a key that is a number": _edited(lambda row: {**row, "key": 1}),
    "columns of text": _all("x"),
    "columns of nothing": _all(None),
    "columns of lists": _all([[]]),
    "columns of mappings": _all({"a": {}}),
    "an MFU of -5": _edited(lambda row: {**row, "mfu": -5}),
    "another verdict": _edited(lambda row: {**row, "verdict": "foo", "reason": "x"}),
    "numbers ten times as large": _edited(
        lambda row: {name: one * 10 if isinstance(one, int | float) else one for name, one in row.items()}
    ),
    "outcomes cut to one": _edited(lambda row: {**row, "outcomes": row.get("outcomes", [])[:1]}),
    "columns of escapes": _edited(lambda row: {**row, "scenario": "\x1b[31m<script>"}),
    "columns that nobody knows": _edited(lambda row: {**row, "foo": 1, "__class__": "x"}),
}
FOREIGN = {
    "a line of notes": b"my precious notes\n",
    "notes without a break": b"my precious notes",
    "two lines of notes": b"my precious notes\nand more\n",
    "JSON of another program": b'{"a": 1}\n',
    "JSON of another program, torn": b'{"a": 1',
    "a list of JSON": b"[1, 2]\n",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "a key that is ours and nothing more": b'{"key": "0123456789abcdef01234567"}\n',
}


def attacks() -> Iterator[Story]:
    for study in STUDIES:
        for what, change in DAMAGED.items():
            yield Story(f"{study}, {what}", partial(_resumed, study, change), command=" ".join(STUDIES[study]))
        for what, content in FOREIGN.items():
            yield Story(f"{study}, {what}", partial(_refused, study, content), command=" ".join(STUDIES[study]))


@cache
def undisturbed(study: str) -> tuple[str, dict[str, bytes]]:
    """Return what a study says and leaves where nothing is there before."""
    from attack import folders

    with folders() as (at, beside):
        done = ran(STUDIES[study], at, beside, Start())
        assert done.code == 0, done.err
        return done.out, files(at)


def files(at: Path) -> dict[str, bytes]:
    return {str(path.relative_to(at)): path.read_bytes() for path in sorted(at.rglob("*")) if path.is_file()}


def _resumed(study: str, change: Change, at: Path, beside: Path) -> str | None:
    """Return what is wrong: a study that goes on says what it would have said, or refuses and changes nothing."""
    out, left = undisturbed(study)
    put(at / OUT / "rows.jsonl", change(left[f"{OUT}/rows.jsonl"].splitlines(keepends=True)))
    return _told(study, at, beside, out)


def _refused(study: str, content: bytes, at: Path, beside: Path) -> str | None:
    """Return what is wrong: a file that is not the program's stays as it is."""
    put(at / OUT / "rows.jsonl", content)
    wrong = _told(study, at, beside, undisturbed(study)[0])
    if wrong is None and not (at / OUT / "rows.jsonl").read_bytes().startswith(content):
        return "a file of somebody else was written over"
    return wrong


def _told(study: str, at: Path, beside: Path, out: str) -> str | None:
    before = (at / OUT / "rows.jsonl").read_bytes()
    done = ran(STUDIES[study], at, beside, Start())
    if done.code is None or "Traceback" in done.err:
        return f"traceback or no end: {done.err.strip().splitlines()[-1:]}"
    if done.code == 0 and done.out != out:
        return "says other numbers than a study that starts anew"
    if done.code == 2 and (at / OUT / "rows.jsonl").read_bytes() != before:
        return "refuses the file and changes it"
    return None if done.code in (0, 2) else f"exit code {done.code}: {done.err[:200]}"
