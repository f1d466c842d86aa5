"""Disks that are full and disks that take nothing: one line that says so, and the next start goes on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from attack import OUT, Story
from process import Start, ran

from tables.kept_rows import STUDIES, undisturbed
from tables.outputs import FILES, FOLDERS

SIZES = (0, 4, 64)
"""KiB that are left on a disk of one MiB."""


def attacks() -> Iterator[Story]:
    for verb, words in {**FOLDERS, **FILES}.items():
        place = f"disk/{OUT}" + ("/plot.png" if verb == "sweep --plot" else "")
        command = f"foretrain {' '.join(words)} {place}"
        for left in SIZES:
            told = partial(_full, [*words, place], left)
            yield Story(f"{verb}, {left} KiB left", told, needs=_may_mount, command=command)
        told = partial(_closed, [*words, place])
        yield Story(f"{verb}, read-only", told, needs=_may_mount, command=command)
    for study in STUDIES:
        yield Story(f"{study}, full and then not", partial(_resumed, study), needs=_may_mount)


@cache
def _may_mount() -> str | None:
    """Return why no disk can be mounted here, or None."""
    if os.geteuid() != 0:
        return "only root may mount a disk"
    from attack import folders

    try:
        with folders() as (at, _), _mounted(at / "disk"):
            return None
    except (OSError, subprocess.CalledProcessError):
        return "no disk can be mounted here"


@contextmanager
def _mounted(at: Path) -> Iterator[Path]:
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(at)], check=True, capture_output=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True, capture_output=True)


def _fill(disk: Path, left: int) -> None:
    """Fill a disk until that many KiB are left; one that has not even room for a name is left as it is."""
    try:
        with (disk / "full").open("wb") as file:
            while True:
                file.write(b"\0" * 4096)
                file.flush()
    except OSError:
        if not (disk / "full").is_file():
            return
    os.truncate(disk / "full", (disk / "full").stat().st_size // 4096 * 4096 - left * 1024)


def _said(words: Sequence[str], at: Path, beside: Path) -> tuple[int | None, str | None]:
    done = ran(words, at, beside, Start())
    if "Traceback" in done.err:
        return done.code, f"traceback: {done.err.strip().splitlines()[-1]}"
    lines = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    if done.code == 2 and len(lines) != 1:
        return 2, f"says {len(lines)} lines: {done.err[:300]}"
    return done.code, None if done.code in (0, 2) else f"exit code {done.code}: {done.err[:200]}"


def _full(words: Sequence[str], left: int, at: Path, beside: Path) -> str | None:
    with _mounted(at / "disk") as disk:
        _fill(disk, left)
        code, wrong = _said(words, at, beside)
        if wrong is None and code == 2:
            (disk / "full").unlink(missing_ok=True)
            code, wrong = _said(words, at, beside)
            return wrong or (f"with room again: exit code {code}" if code else None)
        return wrong


def _closed(words: Sequence[str], at: Path, beside: Path) -> str | None:
    with _mounted(at / "disk") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, capture_output=True)
        code, wrong = _said(words, at, beside)
        return wrong or (None if code == 2 else f"exit code {code} on a disk that takes nothing")


def _resumed(study: str, at: Path, beside: Path) -> str | None:
    words = [*STUDIES[study][:-1], f"disk/{OUT}"]
    with _mounted(at / "disk") as disk:
        for left in SIZES:
            (disk / "full").unlink(missing_ok=True)
            _fill(disk, left)
            _, wrong = _said(words, at, beside)
            if wrong:
                return wrong
        (disk / "full").unlink(missing_ok=True)
        done = ran(words, at, beside, Start())
        return None if (done.code, done.out) == (0, undisturbed(study)[0]) else f"says other words: {done.err[:200]}"
