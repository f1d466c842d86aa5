"""Who may talk to the server: its own page, opened by someone who has the token.

A page of another site, or of another server on this machine, could make the browser call this one, or have its own name
resolve to 127.0.0.1 (DNS rebinding). Both show in the headers: what is asked for under another name or port, or comes
from another origin, is refused. Other users of the machine do not have the token. A page may load nothing from any
other host, whatever it comes to contain.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from simulator.explorer.tokens import Tokens, taken_out

HOSTS = ("127.0.0.1", "localhost")
HTTP = 80
"""The port that browsers leave out of an address."""
ELSEWHERE = "This server answers only to its own page, under the address that `foretrain explore` printed."
WITHOUT = "Open the address that `foretrain explore` printed, with its token; after that, links to this page work."
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

    def __init__(self, app: Application, port: int, tokens: Tokens) -> None:
        self.app, self.port, self.tokens = app, port, tokens

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if not welcome(headers, self.port):
            await _refuse(scope["type"], 421, ELSEWHERE, receive, send)
            return
        known = self.tokens.holds(headers.get(b"cookie", b"").decode("latin-1"))
        token, rest = taken_out(scope.get("query_string", b"").decode("latin-1"))
        if scope["type"] == "http" and token is not None and (self.tokens.opens(token) or known):
            host, path = headers[b"host"].decode("latin-1"), quote(scope["path"])
            await _redirect(f"http://{host}{path}{'?' if rest else ''}{rest}", self.tokens.set_cookie(), send)
        elif not known:
            await _refuse(scope["type"], 403, WITHOUT, receive, send)
        else:
            await self.app(scope, receive, _adding(send))


def welcome(headers: dict[bytes, bytes], port: int) -> bool:
    """Return whether a request asks for this server by its address, and comes from its own page or from no page."""
    host, origin = headers.get(b"host", b"").decode("latin-1").lower(), headers.get(b"origin")
    known = {f"{name}:{port}" for name in HOSTS} | (set(HOSTS) if port == HTTP else set())
    return host in known and (origin is None or origin.decode("latin-1") == f"http://{host}")


async def _refuse(
    kind: str,
    status: int,
    words: str,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    if kind == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{words}\n".encode()})


async def _redirect(address: str, cookie: str, send: Callable[[Message], Awaitable[None]]) -> None:
    told = (("location", address), ("set-cookie", cookie), ("cache-control", "no-store"))
    headers = [*((name.encode(), value.encode("latin-1")) for name, value in told), *HEADERS]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _adding(send: Callable[[Message], Awaitable[None]]) -> Callable[[Message], Awaitable[None]]:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return wrapped
