"""Starts the page on 127.0.0.1, and the processes that answer it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path

from simulator.errors import ScenarioError
from simulator.explorer import answers, link, style
from simulator.explorer.desk import desk
from simulator.explorer.guard import Guard
from simulator.explorer.tokens import NAME, Tokens
from simulator.studies import executors
from simulator.studies.point import Base, Point, evaluate

ADDRESS = "127.0.0.1"
PORT = 8421
WORKERS = 2
SETTINGS = {
    "server.address": ADDRESS,
    "server.headless": True,
    "server.fileWatcherType": "none",
    "server.runOnSave": False,
    "server.maxUploadSize": 1,
    "server.allowedHosts": ["127.0.0.1", "localhost"],
    "browser.gatherUsageStats": False,
    "browser.serverAddress": ADDRESS,
    "logger.hideWelcomeMessage": True,
    "logger.level": "error",
    "client.toolbarMode": "minimal",
    **style.THEME,
}
PAGE = Path(__file__).with_name("page.py")


def free_port(wanted: int | None) -> int:
    """Return the port that is wanted, else the usual one, or any free one where that is taken."""
    for port in (wanted,) if wanted is not None else (PORT, 0):
        with socket.socket() as one, suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((ADDRESS, port))
            return int(one.getsockname()[1])
    raise ScenarioError(f"--port {wanted}: something else listens there; leave it out to take a free one")


def serve(given: Base | None, *, port: int | None = None, browser: bool = True) -> None:
    """Answer pages until Ctrl-C; `given` is what they show at first."""
    from starlette.middleware import Middleware
    from streamlit.web.server.starlette import App

    chosen = free_port(port)
    tokens = Tokens(chosen)
    address = f"http://{ADDRESS}:{chosen}/?{NAME}="

    @asynccontextmanager
    async def started(_: App) -> AsyncIterator[None]:
        print(f"{address}{tokens.token}", flush=True)  # noqa: T201 - the result of the command
        if browser:
            import webbrowser

            webbrowser.open(f"{address}{tokens.ticket()}")
        yield

    with executors.opened(WORKERS) as (desk.executor, desk.workers):
        desk.given = given
        for _ in range(WORKERS):
            desk.executor.submit(answers.warm)
        _warm(link.looked_at(link.read({}, given)))
        guard = Middleware(Guard, port=chosen, tokens=tokens)
        App(PAGE, middleware=[guard], lifespan=started).run(config=SETTINGS | {"server.port": chosen})


def _warm(first: Base) -> None:
    """Import all that pages need before threads of several could do so at once, and ask what the first one asks."""
    for library in ("altair", "pandas", "simulator.explorer.sidebar", "simulator.explorer.views"):
        import_module(library)
    import_module("simulator.explorer.views").views()
    desk.ask(answers.whole, first)
    with suppress(ScenarioError):
        evaluate(Point(first, (), quick=True))
