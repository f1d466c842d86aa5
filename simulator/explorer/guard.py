"""Who may talk to the server: pages of this machine, and nobody in their name.

A page of another site could make the browser call a server on this machine, or have its own name resolve to
127.0.0.1 (DNS rebinding). Both show in the headers: what is asked for under another host's name, or comes from another
origin, is refused. A page may load nothing from any other host, whatever it comes to contain.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

HOSTS = ("127.0.0.1", "localhost")
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "connect-src 'self' data: blob:",
        "frame-ancestors 'none'",
        "base-uri 'self'",
        "form-action 'none'",
        "object-src 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


class Guard:
    """An ASGI middleware that refuses strangers and adds the headers of a page that stays by itself."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif not welcome(dict(scope["headers"])):
            await _refuse(scope["type"], receive, send)
        else:
            await self.app(scope, receive, _adding(send))


def welcome(headers: dict[bytes, bytes]) -> bool:
    """Return whether a request asks for this machine by name, and comes from a page of it or from no page."""
    host = _name(f"//{headers.get(b'host', b'').decode('latin-1')}")
    origin = headers.get(b"origin")
    return host in HOSTS and (origin is None or _name(origin.decode("latin-1")) in HOSTS)


def _name(address: str) -> str:
    try:
        parts = urlsplit(address)
        return "" if parts.username or parts.path.strip("/") or parts.port == 0 else (parts.hostname or "")
    except ValueError:
        return ""


async def _refuse(
    kind: str, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    if kind == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    words = b"This server answers only to pages of this machine.\n"
    await send({"type": "http.response.start", "status": 421, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": words})


def _adding(send: Callable[[Message], Awaitable[None]]) -> Callable[[Message], Awaitable[None]]:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return wrapped
