"""Only pages of this machine may talk to the server, and they may load nothing from elsewhere."""

import asyncio

import pytest

from simulator.explorer.guard import POLICY, Guard, welcome


def headers(host: str, origin: str | None = None) -> dict[bytes, bytes]:
    found = {b"host": host.encode()}
    return found | ({b"origin": origin.encode()} if origin is not None else {})


@pytest.mark.parametrize("host", ["127.0.0.1:8421", "localhost:8421", "localhost", "LOCALHOST"])
def test_this_machine_by_name_is_welcome(host):
    assert welcome(headers(host))
    assert welcome(headers(host, f"http://{host}"))


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", "evil.example:8421", "localhost@evil.example", "[::1]", "10.0.0.1"],
)
def test_another_host_is_refused(host):
    assert not welcome(headers(host))


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://127.0.0.1.evil.example", "file://"])
def test_a_page_from_elsewhere_is_refused(origin):
    assert not welcome(headers("127.0.0.1:8421", origin))


def played(scope: dict) -> list[dict]:
    """Return what is sent in answer to a request."""
    sent: list[dict] = []

    async def inner(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"secret"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(inner)(scope, receive, send))
    return sent


def test_a_refused_request_never_reaches_the_page():
    start, body = played({"type": "http", "headers": [(b"host", b"evil.example")]})
    assert start["status"] == 421
    assert b"secret" not in body["body"]


def test_a_refused_socket_is_closed():
    assert played({"type": "websocket", "headers": [(b"host", b"evil.example")]}) == [
        {"type": "websocket.close", "code": 1008}
    ]


def test_every_page_says_that_it_loads_nothing_from_elsewhere():
    start, _ = played({"type": "http", "headers": [(b"host", b"localhost")]})
    assert (b"content-security-policy", POLICY.encode()) in start["headers"]
    assert "default-src 'self'" in POLICY
    assert "http:" not in POLICY
    assert "https:" not in POLICY
