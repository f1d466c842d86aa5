"""Only the server's own page may talk to it, opened with its token, and it may load nothing from elsewhere."""

import asyncio

import pytest

from simulator.explorer.guard import POLICY, Guard, welcome
from simulator.explorer.tokens import Tokens, taken_out

PORT = 8421
HERE = f"127.0.0.1:{PORT}"


def headers(host: str, origin: str | None = None) -> dict[bytes, bytes]:
    found = {b"host": host.encode()}
    return found | ({b"origin": origin.encode()} if origin is not None else {})


@pytest.mark.parametrize("host", [HERE, f"localhost:{PORT}", f"LOCALHOST:{PORT}"])
def test_this_server_by_its_address_is_welcome(host):
    assert welcome(headers(host), PORT)
    assert welcome(headers(host, f"http://{host.lower()}"), PORT)


def test_browsers_leave_the_port_of_http_out():
    assert welcome(headers("127.0.0.1", "http://127.0.0.1"), 80)
    assert not welcome(headers("127.0.0.1"), PORT)


HOSTS = """
    evil.example 127.0.0.1.evil.example:8421 evil.example:8421 localhost@evil.example:8421 [::1]:8421 10.0.0.1:8421
    127.0.0.1:9999 localhost 127.0.0.1:8421/ 127.0.0.1:8421:1
"""
ORIGINS = """
    http://evil.example null http://127.0.0.1.evil.example:8421 file:// http://127.0.0.1:9999 http://127.0.0.1
    https://localhost https://127.0.0.1:8421 http://LOCALHOST:1 http://localhost:8421 chrome-extension://127.0.0.1
    chrome-extension://127.0.0.1:8421 http://127.0.0.1:8421/ http://x@127.0.0.1:8421
"""


@pytest.mark.parametrize("host", ["", *HOSTS.split()])
def test_another_host_or_port_is_refused(host):
    assert not welcome(headers(host), PORT)


@pytest.mark.parametrize("origin", ["", *ORIGINS.split()])
def test_a_page_from_elsewhere_is_refused(origin):
    assert not welcome(headers(HERE, origin), PORT)


class Server:
    """A guard before a page that says a secret."""

    def __init__(self) -> None:
        self.tokens = Tokens(PORT)
        self.guard = Guard(self.page, PORT, self.tokens)

    @staticmethod
    async def page(scope, receive, send):
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"secret"})

    def asked(
        self, query: str = "", *, kind: str = "http", host: str = HERE, cookie: str = "", path: str = "/"
    ) -> list:
        """Return what is sent in answer to a request."""
        sent: list[dict] = []

        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message)

        said = [(b"host", host.encode()), *([(b"cookie", cookie.encode())] if cookie else [])]
        scope = {"type": kind, "headers": said, "query_string": query.encode(), "path": path}
        asyncio.run(self.guard(scope, receive, send))
        return sent

    @property
    def cookie(self) -> str:
        return f"other=1; {self.tokens.cookie}={self.tokens.token}"


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_refused_request_never_reaches_the_page(server):
    for more, status in (
        ({"host": "evil.example", "cookie": server.cookie}, 421),
        ({}, 403),
        ({"query": "token="}, 403),
    ):
        start, body = server.asked(**more)
        assert (start["status"], b"secret" in body["body"]) == (status, False)


@pytest.mark.parametrize(
    "cookie", ["", "foretrain-8421=", "foretrain-8421=x", "foretrain-8421", "foretrain-9999={}", "{}"]
)
def test_a_page_or_socket_without_the_token_is_refused(server, cookie):
    cookie = cookie.format(server.tokens.token)
    assert server.asked(cookie=cookie)[0]["status"] == 403
    assert server.asked(kind="websocket", cookie=cookie) == [{"type": "websocket.close", "code": 1008}]


def test_a_socket_of_another_host_is_closed(server):
    closed = [{"type": "websocket.close", "code": 1008}]
    assert server.asked(kind="websocket", host="evil.example", cookie=server.cookie) == closed


def test_the_address_that_is_printed_opens_the_page_and_leaves_the_token_in_a_cookie(server):
    start, body = server.asked(f"view=Run&token={server.tokens.token}&set=runs%3D7&set=seed%3D1")
    told = dict(start["headers"])
    assert start["status"] == 303
    assert body["body"] == b""
    assert told[b"location"] == f"http://{HERE}/?view=Run&set=runs%3D7&set=seed%3D1".encode()
    cookie, *attributes = told[b"set-cookie"].decode().split("; ")
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Lax"]
    assert server.asked(cookie=cookie)[1]["body"] == b"secret"
    assert server.asked(kind="websocket", cookie=cookie) == [{"type": "websocket.accept"}]


def test_an_address_with_an_old_token_works_where_the_cookie_is_there(server):
    start, _ = server.asked("token=old", cookie=server.cookie)
    assert (start["status"], dict(start["headers"])[b"location"]) == (303, f"http://{HERE}/".encode())


def test_nobody_is_sent_to_another_host(server):
    start, _ = server.asked(f"token={server.tokens.token}", path="//evil.example/\r\nx: y")
    assert dict(start["headers"])[b"location"] == f"http://{HERE}//evil.example/%0D%0Ax%3A%20y".encode()


def test_a_ticket_opens_once(server):
    ticket = server.tokens.ticket()
    assert server.asked(f"token={ticket}")[0]["status"] == 303
    assert server.asked(f"token={ticket}")[0]["status"] == 403
    assert server.asked(f"token={server.tokens.token}")[0]["status"] == 303
    assert not server.tokens.holds(f"{server.tokens.cookie}={ticket}")


def test_every_server_has_another_token():
    tokens = {Tokens(PORT).token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 43


def test_words_in_an_address_that_are_no_token_stay():
    assert taken_out("yaml=a%2Bb_-&name=%C3%A9&x=") == (None, "yaml=a%2Bb_-&name=%C3%A9&x=")


def test_every_page_says_that_it_loads_nothing_from_elsewhere(server):
    for more in ({"cookie": server.cookie}, {}, {"query": f"token={server.tokens.token}"}, {"host": "evil.example"}):
        start, _ = server.asked(**more)
        assert (b"content-security-policy", POLICY.encode()) in start["headers"]
    assert "default-src 'self'" in POLICY
    assert "http:" not in POLICY
    assert "https:" not in POLICY
