"""Who may use the page: whoever has the address that the command printed, which holds a random token.

The first request with the token is answered with a cookie and the same address without the token, so that a link copied
from the page gives nothing away; from then on the cookie is asked for. The browser that the command opens itself gets a
ticket that opens once, because other users of the machine can see the words with which a program was started.
"""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, urlencode

NAME = "token"
"""What it is called in an address."""


class Tokens:
    """The token of one server, and the ticket of the browser that it opens."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"foretrain-{port}"
        """Its name: browsers send the cookies of one port to all ports of a host."""
        self._ticket: str | None = None

    def ticket(self) -> str:
        """Return a token that opens the page once."""
        self._ticket = secrets.token_urlsafe(32)
        return self._ticket

    def opens(self, word: str) -> bool:
        """Return whether `word`, of an address, opens the page."""
        if self._ticket is not None and _same(word, self._ticket):
            self._ticket = None
            return True
        return _same(word, self.token)

    def holds(self, cookies: str) -> bool:
        """Return whether the cookies of a request hold the token."""
        pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
        return any(_same(value, self.token) for name, _, value in pairs if name == self.cookie)

    def set_cookie(self) -> str:
        """Return the header that makes the browser keep the token from scripts and from other sites."""
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"


def taken_out(query: str) -> tuple[str | None, str]:
    """Return the token of an address, None where it has none, and the rest of its parameters.

    >>> taken_out("view=Run&token=abc&set=runs%3D7")
    ('abc', 'view=Run&set=runs%3D7')
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    words = [value for name, value in pairs if name == NAME]
    return (words[0] if words else None), urlencode([pair for pair in pairs if pair[0] != NAME])


def _same(one: str, other: str) -> bool:
    """Return whether two words are the same, in a time that does not say how much of them is."""
    return secrets.compare_digest(one.encode(), other.encode())
