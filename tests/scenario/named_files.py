"""The keys of a scenario that name a file or an entry, what such files hold, and what is opened in a block."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import simulator

TEXT = """version: 1
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 2}
parallelism: {tensor: 8}
training: {steps: 10, sequence_length: 8192, global_batch: 64, microbatch: 1}
runs: 2
"""
CABLES = "source,target,bandwidth\n" + "".join(f"nic/{host}/{nic},leaf/0,5e10\n" for host in (0, 1) for nic in range(8))
LOG = "time,host\n100,0\n5000,1\n"
CONFIG = """{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 8, "num_hidden_layers": 2,
"intermediate_size": 128, "vocab_size": 1000}"""
FABRIC = "cluster.topology={{kind: edge-list, file: {}}}"
FAILURES = "failures=[{{kind: trace, unit: host, file: {}}}]"
LENGTHS = "training.data={{lengths: {{kind: file, file: {}}}}}"
FILES = {
    "calibration": ("calibration={}", "products: {bf16: 1.05}\n"),
    "cluster.topology.file": (FABRIC, CABLES),
    "failures.causes.file": (FAILURES, LOG),
    "training.data.lengths.file": (LENGTHS, "tokens,samples\n1000,3\n3000,1\n"),
    "model.huggingface": ("model={{huggingface: {}}}", CONFIG),
}
"""Keys that name a file: how each is set, and what such a file holds."""
ENTRIES = {
    "model": "model={}",
    "model.base": "model={{base: {}}}",
    "cluster.host": "cluster.host={}",
    "cluster.host.gpu": "cluster.host.gpu={}",
    "stack": "stack={}",
    "failures.preset": "failures={{preset: {}}}",
    "prices": "prices={}",
}
"""Keys that name an entry of the catalog."""
EVERY = {key: change for key, (change, _) in FILES.items()} | ENTRIES
PATHS = ("/etc/passwd", "../secret.yaml", "secret.yaml", "./secret.yaml", "secret", "sub/../secret.yaml", "~/x", "x\0y")
"""Names that nobody who asks for an entry, or sends a link, may open."""
LIBRARIES = tuple({os.path.realpath(place) for place in (*sys.path, Path(simulator.__file__).parents[1]) if place})
"""The program, its data and what it imports, which are no files of a user."""


class _Watch:
    """An audit hook stays until the process ends; it notes while there is a list to write on."""

    installed = False
    found: set[Path] | None = None

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.found is not None and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith(LIBRARIES):
                self.found.add(Path(path))


_watch = _Watch()


@contextmanager
def opened() -> Iterator[set[Path]]:
    """Yield the set of files that the block opens, besides the program's own."""
    if not _watch.installed:
        sys.addaudithook(_watch)
        _watch.installed = True
    _watch.found = found = set()
    try:
        yield found
    finally:
        _watch.found = None


def put(folder: Path, secret: str = "secret") -> Path:
    """Make a scenario in a folder, with files beside and above it that it does not name; return the folder."""
    made = folder / "scenarios"
    (made / "sub").mkdir(parents=True)
    (made / "mine.yaml").write_text(TEXT)
    for path in (made / "secret.yaml", made.parent / "secret.yaml", made / "secret"):
        path.write_text(f"{secret}: {secret}\n")
    return made
