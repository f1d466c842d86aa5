"""Runs commands on scenarios, each in a process of its own with little memory and time, and says what became of it.

    python tests/proof/limited.py < scenarios.jsonl        a JSON document a line; prints a line of JSON for each

The libraries are imported once; every command then takes a fork of this process.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import scipy.optimize  # noqa: F401

import simulator.report.text
import simulator.simulation
import simulator.studies.advice
import simulator.studies.transfers  # noqa: F401
from simulator.cli import main

SECONDS = 20
ADDRESSES = 3_000_000_000
"""Bytes of memory that may be asked for."""
COMMANDS = (("check",), ("run", "--set", "runs=1"))


def tried(document: Any, folder: Path) -> dict[str, Any]:
    """Return exit code or signal, seconds of a processor, megabytes, and what was said on stderr."""
    path = folder / "mine.yaml"
    path.write_text(json.dumps(document))
    said = folder / "said"
    process = os.fork()
    if process == 0:
        _limited(path, said)
    _, status, used = os.wait4(process, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1000,
        "said": said.read_text(errors="replace")[-2000:],
    }


def _limited(path: Path, said: Path) -> None:
    """Run the commands in this process, and end it."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    code = 70
    try:
        for verb, *more in COMMANDS:
            sys.argv = ["foretrain", verb, str(path), *more]
            code = _code()
            if code not in (0, 1):
                break
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stderr.flush()
    os._exit(code)


def _code() -> int:
    try:
        return int(main() or 0)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for line in sys.stdin:
            print(json.dumps(tried(json.loads(line), Path(name))), flush=True)  # noqa: T201
