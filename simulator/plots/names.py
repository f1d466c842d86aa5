"""What a drawing says for a name that somebody gave."""

from __future__ import annotations

from simulator.io.printable import printable, shortened

LONGEST = 60
"""Letters."""


def named(text: str) -> str:
    r"""Return what somebody called something, as a drawing can say it.

    Control characters are none of XML, one line has no room for many letters, and Matplotlib hides what begins with an
    underscore from legends.

    >>> named("a\x1bb"), named("_"), len(named("c" * 1000))
    ('a\\x1bb', ' _', 60)
    """
    words = shortened(printable(text), LONGEST)
    return f" {words}" if words.startswith("_") else words
