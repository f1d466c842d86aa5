"""Folders of catalogs that hold what no entry is, in eight verbs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attack import Attack, Put, fifo, folder, link, sparse
from odd_files import FILES
from small import ONE_HOST

ENTRY = "source: measured\nlayers: 2\nhidden: 256\nheads: 4\nvocabulary: 1000\n"
VERBS: Mapping[str, list[str]] = {
    "check": ["check", ONE_HOST],
    "run": ["run", ONE_HOST, "--runs", "1", "--json"],
    "sweep": ["sweep", ONE_HOST, "--vary", "cluster.hosts=[1]", "--quick", "--jobs", "1"],
    "layouts": ["layouts", ONE_HOST, "--quick", "--jobs", "1", "--set", "search.context=[1]"],
    "stress": ["stress", "tutorial/3-failures", "--vary", "cluster.spares=[2]", "--runs", "2", "--jobs", "1"],
    "compare": ["compare", ONE_HOST, "--with", "cluster.hosts=2", "--runs", "1", "--jobs", "1"],
    "export": ["export", "megatron", ONE_HOST],
    "plan": ["plan", ONE_HOST, "--flops", "1e22", "--own-layout", "--runs", "1"],
}
ENTRIES: Mapping[str, Put] = {
    "good": ENTRY,
    "no source": ENTRY.replace("source: measured\n", ""),
    "an empty source": ENTRY.replace("measured", ""),
    "a list as a source": ENTRY.replace("measured", "[a]"),
    "aliases of a list of lists": f"{ENTRY}aliases: [[a]]\n",
    "an alias of another entry": f"{ENTRY}aliases: [llama-3.1-8b]\n",
    "10,000 aliases": f"{ENTRY}aliases: [{', '.join(f'x{n}' for n in range(10_000))}]\n",
    "a base of itself": f"{ENTRY}base: a\n",
    "unknown keys": f"{ENTRY}foo: 1\n",
    "unknown keys of escapes": f'{ENTRY}"\\e[31mfoo": 1\n',
    "markup in a source": ENTRY.replace("measured", "'<script>alert(1)</script> [/red] \"'"),
    "numbers of no number": ENTRY.replace("256", ".nan"),
    "huge numbers": ENTRY.replace("256", "1e300"),
    "two megabytes": "source: x\n" + "#" * 2_000_001,
    **{f"{name} as an entry": content for name, content in FILES.items()},
}
FOLDERS: Mapping[str, Mapping[str, Put]] = {
    "an empty folder": {"mine": folder},
    "a folder of nothing known": {"mine/foo/a.yaml": ENTRY},
    "a file": {"mine": ENTRY},
    "a pipe": {"mine": fifo},
    "a link that loops": {"mine": link("mine")},
    "a link to nothing": {"mine": link("nowhere")},
    "a kind that is a file": {"mine/model": ENTRY},
    "a kind that is a link to itself": {"mine/model/a.yaml": ENTRY, "mine/model/b": link(".")},
    "a name of escapes": {"mine/model/\x1b[31mred.yaml": ENTRY},
    "a name of dots": {"mine/model/....yaml": ENTRY},
    "a name that starts with a dash": {"mine/model/-a.yaml": ENTRY},
    "a name that is no UTF-8": {"mine/model/\udcff.yaml": ENTRY},
    "a table that is broken": {"mine/calibration/a.csv": b'a,b\n"1\0'},
    "a table that is huge": {"mine/calibration/a.csv": sparse(100_000_000)},
    "a table that is a pipe": {"mine/calibration/a.csv": fifo},
    "5,000 entries": {f"mine/model/m{n}.yaml": ENTRY for n in range(5_000)},
    "folders 200 deep": {"mine/model" + "/d" * 200 + "/a.yaml": ENTRY},
}
ELSEWHERE = ("/etc", "/proc/self", "/dev", "/nowhere", "", ".", "..", "~", "x" * 5_000, "\x1b[31mred")


def attacks() -> Iterator[Attack]:
    for verb, words in VERBS.items():
        for what, content in ENTRIES.items():
            files = {"mine/model/a.yaml": content}
            named = ("/etc/passwd", "/dev/zero") if what.startswith("to-") else ()
            more = ["--catalog", "mine", *(["--set", "model=a"] if verb != "stress" else [])]
            yield Attack(f"{verb}: {what}", [*words, *more], files, named=named, wait=60)
        for what, files in FOLDERS.items():
            yield Attack(f"{verb}: {what}", [*words, "--catalog", "mine"], files, wait=60)
        for where in ELSEWHERE:
            yield Attack(f"{verb}: --catalog {where[:20]}", [*words, "--catalog", where], named=[where], wait=60)
    for what, files in {**{what: {"mine/model/a.yaml": one} for what, one in ENTRIES.items()}, **FOLDERS}.items():
        named = ("/etc/passwd", "/dev/zero") if what.startswith("to-") else ()
        for words in (["catalog", "model"], ["catalog", "model", "a"]):
            yield Attack(f"{' '.join(words)}: {what}", [*words, "--catalog", "mine"], files, named=named, wait=60)
