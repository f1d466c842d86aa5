"""Names of scenarios, files and arguments are text on a terminal: no markup, no links, no escape sequences."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from pseudo_terminal import WIDTH, Seen, run

pytest.importorskip("pty")

COLOUR = "\x1b[38;5;123m"
"""A colour that the program does not use."""
HOSTILE = (
    f"8B [/pretrain] [link=http://evil]click[/link] [bold]{COLOUR}\x1b]0;own\x07\x1b]8;;http://evil\x1b\\"
    "\x9b31m\u202e\u2066 :smile: 😀👩\u200d💻 line\nbreak\r\t=1+1 é日本"
)
SHOWN = (
    r"8B [/pretrain] [link=http://evil]click[/link] [bold]\x1b[38;5;123m\x1b]0;own\x07\x1b]8;;http://evil\x1b\\x9b31m"
    r"\u202e\u2066 :smile: 😀👩\u200d💻 line\nbreak\r\t=1+1 é日本"
)
LONG = "a name of a thousand letters " * 40
FILE = f"[link=http:evil]{COLOUR}\x1b]0;own\x07\u202e [] é.yaml"
SCENARIO = """\
name: NAME
source: NAME
model: {base: llama-3.1-8b, layers: 2}
cluster: {host: hgx-h100, hosts: 2}
training: {tokens: 1B, sequence_length: 8192, global_batch: 64}
failures: {causes: [{name: NAME, unit: gpu, mtbf: 1000d}]}
recovery: {repair: 1d}
prices: {gpu_hour: $2}
runs: 2
"""
STYLES = re.compile(r"\x1b\[[0-9;]*m")
MOVES = re.compile(r"\x1b\[(\?25[lh]|2K|1A)|\r")
"""What the line sends that says that something is under way: hide the cursor, erase the line."""


def quoted(text: str) -> str:
    """Return text as YAML has it in quotes."""
    said = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in said)


ALONE = ["--jobs", "1"]
NAMES = ["--vary", f"name=[{quoted(HOSTILE)}, {quoted(LONG)}]", "--quick", *ALONE]
DONE = [
    ["run", FILE],
    ["run", FILE, "--json"],
    ["run", "long.yaml", "--out", FILE.removesuffix(".yaml")],
    ["check", FILE, "long.yaml", "--advice"],
    ["compare", FILE, "long.yaml", "--with", f"name={quoted(HOSTILE)}", *ALONE],
    ["compare", FILE, "--with", f"name={quoted(HOSTILE)}", "--csv", *ALONE],
    ["layouts", FILE, "--quick", *ALONE],
    ["sweep", FILE, "long.yaml", *NAMES],
    ["sweep", FILE, *NAMES, "--csv"],
    ["sweep", FILE, "--vary", "training.microbatch=[1,3]", "--quick", *ALONE],
    ["stress", FILE, "--vary", "cluster.spares=[0,1]", *ALONE],
    ["import", "megatron", "train.sh"],
    ["export", "megatron", FILE],
    ["export", "torchtitan", FILE],
    ["export", "deepspeed", FILE],
    ["catalog", "gpu", "--catalog", "catalog"],
    ["catalog", "gpu", "mine", "--catalog", "catalog"],
    ["catalog", "gpu", "mine", "--catalog", "catalog", "--json"],
    ["validate", "gemm.csv"],
    ["validate", "gemm.csv", "--csv"],
    ["plan", "--gpu", "h100", "--gpus", "8", "--mfu", "40%", "--phases", "phases.yaml"],
]
WRONG = [
    [HOSTILE],
    [f"--{HOSTILE}"],
    ["run", HOSTILE],
    ["run", FILE, f"--{HOSTILE}"],
    ["run", FILE, "--set", HOSTILE],
    ["run", FILE, "--fail-under", HOSTILE],
    ["run", FILE, "--catalog", HOSTILE],
    ["check", HOSTILE, FILE],
    ["sweep", FILE, "--vary", f"{HOSTILE}=[1,2]", *ALONE],
    ["sweep", FILE, "--tornado", "--metric", HOSTILE],
    ["new", "--model", HOSTILE],
    ["catalog", HOSTILE],
    ["catalog", "gpu", HOSTILE],
    ["import", "huggingface", "config.json"],
    ["export", HOSTILE, FILE],
    ["calibrate", "--run", f"{HOSTILE}={HOSTILE}"],
    ["lab", HOSTILE],
]


def filled(folder: Path) -> Path:
    """Return the folder with a scenario, a catalog, a table and configurations, all with hostile names."""
    (folder / FILE).write_text(SCENARIO.replace("NAME", quoted(HOSTILE)))
    (folder / "long.yaml").write_text(SCENARIO.replace("NAME", quoted(LONG)))
    (folder / "config.json").write_text(json.dumps({"architectures": [HOSTILE], HOSTILE: 1}))
    (folder / "train.sh").write_text(f"--num-layers 2 --hidden-size 256 --num-attention-heads 4 '--{COLOUR}x' 1\n")
    (folder / "catalog" / "gpu").mkdir(parents=True)
    (folder / "catalog" / "gpu" / "mine.yaml").write_text(f"base: h100-sxm-80gb\nsource: {quoted(HOSTILE)}\n")
    (folder / "gemm.csv").write_text(
        "gpu,dtype,groups,m,n,k,time_us,tflops,peak_tflops,efficiency,library,op,note,quality,source\n"
        f'H100 SXM,bf16,1,1024,1024,1024,8,268,989,0.27,"[red]{COLOUR}x",square,"[b]{COLOUR}",verbatim,"{COLOUR}"\n'
    )
    (folder / "phases.yaml").write_text(f"parameters: 1B\nphases: [{{name: {quoted(HOSTILE)}, tokens: 1T}}]\n")
    return folder


def unseen(one: Seen) -> set[str]:
    """Return what a terminal got beside text and the program's own colours."""
    text = MOVES.sub("", STYLES.sub("", one.sent)).replace("\n", "")
    return {letter for letter in text if unicodedata.category(letter)[0] == "C"} | (
        {COLOUR} & {*STYLES.findall(one.sent)}
    )


def columns(line: str) -> int:
    """Return the columns that a line takes on a terminal."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
    return len(line) + wide - sum(unicodedata.category(letter) == "Mn" for letter in line)


def widest(one: Seen) -> int:
    lines = STYLES.sub("", one.sent).split("\n")
    return max(columns(MOVES.sub("", line.rpartition("\x1b[2K")[2])) for line in lines)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    return run(DONE, filled(tmp_path_factory.mktemp("hostile")))


@pytest.mark.slow
def test_names_send_nothing_to_a_terminal_but_text(seen: list[Seen]) -> None:
    found = {" ".join(one)[:60]: (got.code, unseen(got)) for one, got in zip(DONE, seen, strict=True)}
    assert found == dict.fromkeys(found, (0, set()))
    first = STYLES.sub("", seen[0].sent)
    assert re.sub(r"\s", "", SHOWN) in re.sub(r"\s", "", first)
    assert STYLES.search(seen[0].sent)


@pytest.mark.slow
def test_lines_end_before_the_edge_of_the_terminal(seen: list[Seen]) -> None:
    for_people = {"run", "check", "compare", "layouts", "sweep", "stress", "catalog", "validate", "plan"}
    for arguments, got in zip(DONE, seen, strict=True):
        if arguments[0] in for_people and not {"--json", "--csv", "mine"} & {*arguments}:
            assert widest(got) <= WIDTH, got.sent


@pytest.mark.slow
def test_a_sweep_shows_figures_beside_names_of_any_length(seen: list[Seen]) -> None:
    assert "MFU" in seen[DONE.index(["sweep", FILE, "long.yaml", *NAMES])].sent


@pytest.mark.slow
def test_what_is_wrong_is_said_in_text_whatever_was_named(tmp_path: Path) -> None:
    got = run(WRONG, filled(tmp_path))
    found = {" ".join(one)[:60]: (one_got.code, unseen(one_got)) for one, one_got in zip(WRONG, got, strict=True)}
    assert found == dict.fromkeys(found, (2, set()))
    assert all("Traceback" not in one.sent for one in got)


def test_names_of_a_run_are_text_on_a_terminal(tmp_path: Path) -> None:
    good, wrong, plain = run([["run", FILE], ["run", HOSTILE], ["check", FILE]], filled(tmp_path))
    assert [(one.code, unseen(one)) for one in (good, wrong, plain)] == [(0, set()), (2, set()), (0, set())]
    assert STYLES.search(good.sent)
