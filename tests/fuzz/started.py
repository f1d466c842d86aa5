"""Starts the command line as `foretrain` does, watched; what happens is written to the file that is named first.

    python tests/fuzz/started.py EVENTS check tutorial/1-one-host

Workers that a study starts run this module too before their work, and are watched as well.
"""

from __future__ import annotations

import os
import sys

EVENTS = "FORETRAIN_EVENTS"
"""The variable of the environment that tells workers where to write."""
ADDRESS = "@address"
"""In place of a verb: what follows is an address of the explorer."""


def watched(events: str) -> None:
    """Watch this process from here on; one line an event, each event once."""
    from watch import Watch

    number = os.open(events, os.O_WRONLY | os.O_APPEND)
    seen: set[tuple[str, str]] = set()

    def tell(what: str, path: str) -> None:
        if (what, path) not in seen and path != events:
            seen.add((what, path))
            os.write(number, f"{what} {path!r}\n".encode("utf-8", "backslashreplace"))

    sys.addaudithook(Watch(tell))


def command(words: list[str]) -> None:
    """Do what `words` say and exit."""
    if words[:1] == [ADDRESS]:
        from address import shown

        sys.exit(shown(*words[1:]))
    from simulator.cli import main

    sys.argv = ["foretrain", *words]
    main()


if __name__ in ("__main__", "__mp_main__"):
    HERE = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [HERE, *(path for path in sys.path if path != HERE)]
    if __name__ == "__main__":
        os.environ[EVENTS] = sys.argv[1]
        watched(sys.argv[1])
        command(sys.argv[2:])
    elif EVENTS in os.environ:
        watched(os.environ[EVENTS])
