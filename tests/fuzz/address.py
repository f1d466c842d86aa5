"""What the explorer's page does with an address, without a browser: read it, answer at once, write it anew."""

from __future__ import annotations

import sys
from urllib.parse import parse_qs, urlencode

from simulator import shipped
from simulator.errors import ForetrainError, InfeasibleError
from simulator.explorer import asked, link, mistakes
from simulator.explorer.fields import KEYS, fields
from simulator.studies.point import Base, Point, evaluate


def shown(address: str, *given: str) -> int:
    """Print what a page says of an address; `given` is a scenario that the server was started with, and its catalogs.

    Return the exit code that a command would end with: 0, 1 for no, 2 for a message about the input.
    """
    start = Base(given[0], str(shipped.find(given[0])), catalogs=given[1:]) if given else None
    try:
        base = link.read(parse_qs(address, keep_blank_values=True), start, given[1:])
        link.write(base)
        print(asked.command(base))  # noqa: T201
        fields(asked.document(base), base.read().resolved, base.catalogs)
        print(evaluate(Point(base, quick=True)))  # noqa: T201
        asked.as_yaml(base)
        link.read(parse_qs(urlencode(link.write(base), doseq=True)), start, given[1:]).read()
    except ForetrainError as error:
        for words in mistakes.by_field(error, KEYS).values():
            print("\n".join(words), file=sys.stderr)  # noqa: T201
        return 1 if isinstance(error, InfeasibleError) else 2
    return 0
