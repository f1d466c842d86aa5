"""Odd files and hostile paths in every key that names a file or an entry of the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from attack import Attack
from odd_files import FILES, NAMES, OUTSIDE
from process import WAIT
from small import quoted, scenario

ENTRIES = {
    "model": "model: {}\n",
    "base": "model: {{base: {}}}\n",
    "host": "cluster: {{host: {}, hosts: 1}}\n",
    "gpu": "cluster: {{host: {{base: hgx-h100, gpu: {}}}, hosts: 1}}\n",
    "stack": "stack: {}\n",
    "failures": "failures: {}\n",
    "preset": "failures: {{preset: {}}}\n",
    "prices": "prices: {}\n",
}
"""Keys of names, which are never files."""
TAKE_FILES = {
    "calibration": "calibration: {}\n",
    "edge-list": "cluster: {{host: hgx-h100, hosts: 1, topology: {{kind: edge-list, file: {}}}}}\n",
    "trace": "failures: {{causes: [{{kind: trace, unit: host, file: {}, length: 30d}}]}}\n",
    "huggingface": "model: {{huggingface: {}}}\n",
}


def attacks() -> Iterator[Attack]:
    for key, line in {**ENTRIES, **TAKE_FILES}.items():
        for name in (*FILES, *OUTSIDE, *NAMES):
            files = {name: FILES[name]} if name in FILES else {}
            section = line.partition(":")[0]
            text = without(scenario(), section) + line.format(quoted(name))
            takes = key in TAKE_FILES and name
            named = [name.replace("\0", "")] if takes and name in (*OUTSIDE, "..", "http://127.0.0.1:9/x") else []
            named += ["/etc/passwd", "/dev/zero"] if takes and name.startswith("to-") else []
            files |= {"mine.yaml": text}
            wait = 10.0 if name == "fifo" else WAIT
            yield Attack(f"{key}: {name[:30]}", ["check", "mine.yaml"], files, named=named, wait=wait)


def without(text: str, section: str) -> str:
    """Return a scenario without one of its sections."""
    kept, inside = [], False
    for one in text.splitlines(keepends=True):
        inside = one.startswith(f"{section}:") or (inside and one.startswith(" "))
        kept += [] if inside else [one]
    return "".join(kept)
