"""Places that cannot be written, or that are none of the program's; streams that are full, closed or gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from attack import OUT, After, Attack, Put, fifo, folder, link
from process import Done, Start
from small import FAILING, ONE_HOST, scenario

RUN = ["run", ONE_HOST, "--runs", "1"]
SWEEP = ["sweep", ONE_HOST, "--vary", "training.microbatch=[1]", "--quick", "--jobs", "1"]
LAYOUTS = ["layouts", ONE_HOST, "--quick", "--jobs", "1", "--set", "search.context=[1]", "--set", "search.tensor=[1]"]
STRESS = ["stress", FAILING, "--vary", "cluster.spares=[2]", "--runs", "2", "--jobs", "1"]
PLAN = ["plan", "--flops", "1e22", "--gpu", "h100-sxm-80gb", "--mfu", "0.4", "--gpus", "8"]
FOLDERS = {
    "run": [*RUN, "--out"],
    "sweep": [*SWEEP, "--out"],
    "layouts": [*LAYOUTS, "--out"],
    "stress": [*STRESS, "--out"],
    "plan": [*PLAN, "--out"],
}
FILES = {
    "run --trace": [*RUN, "--trace"],
    "sweep --plot": [*SWEEP, "--plot"],
    "new": ["new"],
    "calibrate --out": ["calibrate", "--run", f"{ONE_HOST}=12.3s", "--out"],
}
NOTES = "my precious notes\n"
THERE: dict[str, Put] = {
    "a file": NOTES,
    "a folder": folder,
    "a pipe": fifo,
    "a link that loops": link(OUT),
    "a link to nothing": link("nowhere/at/all"),
}
PLACES = ("", " ", "/dev/full", "/dev/null/x", "/proc/nothing", "/sys/x", "x" * 300, "a/" * 2_000, "\x1b[31m", "a\nb")
VICTIM = "victim"
"""A file that is not the program's, which a link inside of --out leads to."""
LINKED = {
    "run": ("report.html", "result.json", "trace.json"),
    "sweep": ("rows.jsonl", "rows.csv"),
    "stress": ("rows.jsonl",),
}
STREAMS = {
    "stdin closed": "<&-",
    "stdout closed": ">&-",
    "stderr closed": "2>&-",
    "all closed": "<&- >&- 2>&-",
    "stdout full": "> /dev/full",
    "stderr full": "2> /dev/full",
    "both full": "> /dev/full 2>&1",
    "one line read": "| head -1",
    "no line read": "| true",
    "both read and gone": "2>&1 | head -c 1",
}
VERBS = {
    "check": ["check", ONE_HOST, "nowhere"],
    "run": RUN,
    "run --json": [*RUN, "--json"],
    "sweep": SWEEP,
    "catalog": ["catalog", "gpu"],
    "validate": ["validate", "--csv", "--family", "KOR"],
    "from stdin": ["check", "-"],
    "import from stdin": ["import", "megatron", "-"],
    "new": ["new"],
    "help": ["--help"],
    "schema": ["schema"],
    "no verb": [],
}


def attacks() -> Iterator[Attack]:
    for verb, words in {**FOLDERS, **FILES}.items():
        suffix = "/plot.png" if verb == "sweep --plot" else ""
        for what, there in THERE.items():
            for where, place in (("", OUT), ("in ", f"{OUT}/x")):
                filled = [*words, place + suffix]
                # A file that is named as the one to write is written; a folder is never put in the place of a file.
                named = verb in FILES and verb != "new" and place + suffix == OUT
                after = None if named else _kept(OUT, there)
                waits = {"codes": (0, 1, 2, None), "wait": 5} if there is fifo else {}
                yield Attack(f"{verb}, {where}{what}", filled, {OUT: there}, after=after, **waits)
        for place in PLACES:
            filled = _under(place) + suffix
            yield Attack(f"{verb}, {place[:20]!r}", [*words, filled], named=[place], written=[filled])
    for verb, names in LINKED.items():
        for name in names:
            files = {f"{OUT}/{name}": link(f"../{VICTIM}"), VICTIM: NOTES}
            yield Attack(f"{verb}, a link at {name}", [*FOLDERS[verb], OUT], files, after=_kept(VICTIM, NOTES))
            files = {f"{OUT}/{name}": folder}
            yield Attack(f"{verb}, a folder at {name}", [*FOLDERS[verb], OUT], files)
    for verb, words in VERBS.items():
        for what, shell in STREAMS.items():
            stdin = scenario().encode() if "stdin" in verb else b""
            yield Attack(f"{verb}, {what}", words, start=Start(stdin=stdin, shell=shell), codes=(0, 1, 2))


def _under(place: str) -> str:
    """Return a path that, if it can be made at all, is under the folder that may be written."""
    return place if place.startswith("/") or not place.strip() else f"{OUT}/{place}"


def _kept(name: str, there: Put) -> After:
    def changed(at: Path, _: Done) -> str | None:
        if not isinstance(there, str):
            return None
        now = (at / name).read_text(encoding="utf-8", errors="replace") if os.path.isfile(at / name) else None
        return None if now == there else f"{name} was {there!r} and is {now and now[:60]!r}"

    return changed
