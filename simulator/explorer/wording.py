"""Words on the page that mean themselves: Markdown and HTML in a name are shown, not obeyed."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$~:&^=@])")


def literal(text: str) -> str:
    r"""Return `text` for a place where Markdown is read, so that it shows as it is.

    >>> literal("**$2** ![x](http://a.b)")
    '\\*\\*\\$2\\*\\* \\!\\[x\\]\\(http\\://a\\.b\\)'
    """
    return "  \n".join(_MARKDOWN.sub(r"\\\1", line) for line in text.splitlines())
