"""Runs the program on a terminal of 80 columns that is none; one process loads it, and forks for each command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

WIDTH = 80


class Seen(NamedTuple):
    code: int
    sent: str
    """All that the terminal got, from stdout and stderr."""


def run(commands: Sequence[Sequence[str]], folder: Path, **environment: str) -> list[Seen]:
    """Return for each command its exit code and what it sends to a terminal."""
    unset = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "CI"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(commands).encode(),
        stdout=subprocess.PIPE,
        cwd=folder,
        env=inherited | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONUTF8": "1"} | environment,
        check=True,
    )
    return [Seen(*one) for one in json.loads(done.stdout)]


def _on_a_terminal(arguments: list[str]) -> Seen:
    import pty

    child, terminal = pty.fork()
    if child == 0:
        _work(arguments)
    sent = b""
    try:
        while part := os.read(terminal, 65536):
            sent += part
    except OSError:  # how a terminal says that nobody writes there any more
        pass
    os.close(terminal)
    return Seen(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sent.decode())


def _work(arguments: list[str]) -> None:
    from fcntl import ioctl
    from struct import pack
    from termios import TIOCSWINSZ
    from traceback import print_exc

    from simulator.__main__ import main

    ioctl(1, TIOCSWINSZ, pack("HHHH", 50, WIDTH, 0, 0))
    sys.argv = ["foretrain", *arguments]
    code = 0
    try:
        main()
    except SystemExit as done:
        code = int(done.code or 0)
    except BaseException:
        print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import simulator.report.text
    import simulator.simulation
    import simulator.studies.compare  # noqa: F401 - so that no command loads them again

    found = [_on_a_terminal(one) for one in json.load(sys.stdin)]
    sys.stdout.write(json.dumps(found))
