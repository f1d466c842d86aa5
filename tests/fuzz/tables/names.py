"""Names that want to be code: in pages, drawings, traces, tables, file names, options and on terminals."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from attack import OUT, Attack
from process import Done, Start
from small import FAILING, ONE_HOST, quoted, scenario

EVIL = {
    "a script": "<script>alert(1)</script>",
    "an end of an attribute": '"\' onload=alert(1) x="',
    "an image": "<img src=x onerror=alert(1)>",
    "an end of SVG": "</text></svg><script>alert(1)</script>",
    "an entity": "&lt;b&gt; &#x3c;i&#x3e; &amp;",
    "CDATA": "]]><script>alert(1)</script>",
    "a comment": "--><script>alert(1)</script><!--",
    "an address": "javascript:alert(1)",
    "a template": "{{ 7*7 }}{% raw %}${x}#{y}",
    "format signs": "%s%n{0}{name!r:>99999}",
    "math": "$\\frac{a}{b}$ $x^{2}",
    "broken math": "$\\input{/etc/passwd}",
    "a formula": "=1+1",
    "a command of a sheet": "=cmd|'/c calc'!A1",
    "a plus": "+1+1",
    "a minus": "-1+1",
    "an at": "@SUM(1)",
    "a tab and a formula": "\t=1+1",
    "markup of rich": "8B [/pretrain] run",
    "a link of rich": "[link=http://evil]click[/link][blink]x[/]",
    "escapes": "\x1b[31mred\x1b]0;own\x07",
    "eight-bit escapes": "\x9b31m\x9d0;own\x9c",
    "carriage return": "one\rtwo\x08\x7f",
    "right to left": "\u202eevil\u2066x",
    "a path": "../../../tmp/canary",
    "a path of the root": "/etc/canary",
    "a device": "CON",
    "a quote of YAML": "'\"\n- x: !!python/none",
    "no letters": "\u200b\u2060",
    "a thousand marks": "e" + "\u0301" * 1_000,
}
FORMULA = re.compile(r"\s*[=+\-@\t\r]")
NAMED = ("run", "check", "sweep", "compare")
OUTPUTS = ["--out", OUT, "--trace", f"{OUT}/step.json"]
UNKNOWN = "\x1b[31mx\u202e<b>"
"""A key that nothing knows."""
IMPORTS = {
    "megatron": f"--num-layers 2 --{UNKNOWN} 3",
    "torchtitan": f"--module llama3 --config llama3_8b --x.{UNKNOWN}=3",
    "deepspeed": json.dumps({"train_batch_size": 8, UNKNOWN: 1, "zero_optimization": {UNKNOWN: 2}}),
    "fsdp": f"distributed_type: FSDP\n{quoted(UNKNOWN)}: 1\nfsdp_config: {{{quoted(UNKNOWN)}: 2}}\n",
    "huggingface": json.dumps({"model_type": "llama", "hidden_size": 8, UNKNOWN: 1, "architectures": [UNKNOWN]}),
}


def attacks() -> Iterator[Attack]:
    for what, name in EVIL.items():
        text = scenario(NAME=quoted(name))
        files = {"mine.yaml": text}
        yield Attack(f"run: {what}", ["run", "mine.yaml"], files)
        yield Attack(f"run --json: {what}", ["run", "mine.yaml", "--json"], files, raw=True, after=_json)
        yield Attack(f"on a terminal: {what}", ["run", "mine.yaml"], files, start=_terminal(), after=_calm)
        yield Attack(f"sweep on a terminal: {what}", _sweep("mine.yaml"), files, start=_terminal(), after=_calm)
        yield Attack(f"compare --csv: {what}", _compare(), {**files, "b.yaml": scenario()}, raw=True, after=_sheet)
        yield Attack(f"trace: {what}", ["run", "mine.yaml", "--trace", f"{OUT}/t.json"], files, raw=True, after=_files)
        setting = f"name={json.dumps(name)}"
        yield Attack(f"--set: {what}", ["run", ONE_HOST, "--runs", "1", "--set", setting], codes=(0, 1, 2))
        yield Attack(f"--vary: {what}", _sweep(ONE_HOST, f"name=[{json.dumps(name)}]"), raw=True, after=_files)
        for option in ("--fail-under", "--set", "--vary", "--metric", "--catalog", "--objective"):
            yield Attack(f"{option} {what}", ["sweep", ONE_HOST, option, name, "--quick", "--jobs", "1"])
        yield Attack(f"a verb: {what}", [name])
        for kind in ("model", name):
            yield Attack(f"catalog {kind[:10]}: {what}", ["catalog", kind, name])
    for what in ("a script", "an end of SVG", "an end of an attribute", "math", "a path", "escapes", "a formula"):
        text = scenario(NAME=quoted(EVIL[what]))
        yield Attack(f"run --out: {what}", ["run", "mine.yaml", *OUTPUTS], {"mine.yaml": text}, raw=True, after=_files)
        causes = f"failures: {{causes: [{{kind: exponential, unit: gpu, mtbf: 900h, name: {quoted(EVIL[what])}}}]}}\n"
        files = {"mine.yaml": scenario() + causes}
        yield Attack(f"run --out, a cause: {what}", ["run", "mine.yaml", *OUTPUTS], files, raw=True, after=_files)
        file = EVIL[what].replace("/", "_").strip() + ".yaml"
        yield Attack(f"a file name: {what}", _sweep(f"./{file}"), {file: scenario()}, raw=True, after=_files)
        yield Attack(f"stress: {what}", _stress(EVIL[what]), raw=True, after=_files)
    for name, text in IMPORTS.items():
        yield Attack(f"import {name} of an unknown key", ["import", name, "mine.txt"], {"mine.txt": text})


def _terminal() -> Start:
    return Start(terminal=True)


def _sweep(path: str, vary: str = "training.microbatch=[1]") -> list[str]:
    return ["sweep", path, "--vary", vary, "--quick", "--jobs", "1", "--out", OUT]


def _compare() -> list[str]:
    return ["compare", "mine.yaml", "b.yaml", "--csv", "--runs", "1", "--jobs", "1"]


def _stress(name: str) -> list[str]:
    vary = f"name=[{json.dumps(name)}, b]"
    return ["stress", FAILING, "--vary", vary, "--runs", "2", "--jobs", "1", "--out", OUT]


def _json(_: Path, done: Done) -> str | None:
    if done.code == 0:
        json.loads(done.out)
    return None


def _calm(_: Path, done: Done) -> str | None:
    """Return what a terminal is told to do beyond colours and what the program's own bar needs."""
    for sequence in re.finditer(r"\x1b(?!\[[0-9;?]*[a-zA-Z]).{0,30}|\x9b|\x9d|\x08|\x7f|\u202e|\u2066", done.out):
        return f"sends {sequence[0]!r} to a terminal"
    return None


def _sheet(_: Path, done: Done) -> str | None:
    return _formula(done.out) if done.code == 0 else None


def _files(at: Path, done: Done) -> str | None:
    """Return what is wrong in a file that was written."""
    for path in sorted((at / OUT).rglob("*")):
        if path.is_file() and (wrong := _wrong(path)):
            return f"{path.name}: {wrong}"
    return None


def _wrong(path: Path) -> str | None:
    if path.suffix == ".csv":
        return _formula(path.read_text(encoding="utf-8"))
    if path.suffix == ".json":
        json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".svg":
        names = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
        return f"has {names & {'script', 'foreignObject', 'image'}}" if names & {"script", "foreignObject"} else None
    if path.suffix == ".html":
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        return page.found
    return None


def _formula(text: str) -> str | None:
    """Return a cell that a spreadsheet would work out."""
    for row in csv.reader(text.splitlines()):
        for cell in row:
            if FORMULA.match(cell) and not re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?|-?inf|-", cell):
                return f"a cell begins as a formula: {cell[:60]!r}"
    return None


class _Page(HTMLParser):
    """Looks for what a page may not hold."""

    found: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "link", "img", "base", "form"):
            self.found = f"has <{tag}>"
        for name, value in attrs:
            if name.startswith("on") or "javascript:" in (value or ""):
                self.found = f"has {name}={value!r}"
