"""Explore a scenario in the browser: change one thing at a time and see what follows."""

from __future__ import annotations

from typing import Annotated

import typer

from simulator.cli._options import Catalogs, Overrides

Start = Annotated[
    str | None,
    typer.Argument(metavar="[SCENARIO]", help="A YAML file, or a shipped name such as tutorial/1-one-host."),
]
Port = Annotated[
    int | None, typer.Option("--port", metavar="N", min=1, max=65535, help="Of 127.0.0.1; 8421 or a free one.")
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")]


def command(
    scenario: Start = None,
    overrides: Overrides = None,
    catalogs: Catalogs = None,
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Explore a scenario in the browser.

    Serves a page on 127.0.0.1 that says what `run` says while keys are changed:
    verdict, step, memory, days, cost, pictures, layouts, what-ifs, and how far
    to trust them. The address that is printed holds a token: only who has it
    gets the page. That of the page holds the scenario, so that it can be sent on.
    Needs the extra: pip install 'foretrain[explorer]'. Ctrl-C ends it.

    Examples:
      foretrain explore
      foretrain explore mine.yaml --set cluster.hosts=64
      foretrain explore published/llama-3.1-405b-16k --no-browser --port 8500
    """
    from importlib.util import find_spec

    from simulator import shipped
    from simulator.errors import ScenarioError
    from simulator.studies.point import Base

    if find_spec("streamlit") is None:
        raise ScenarioError("explore needs Streamlit; install it with pip install 'foretrain[explorer]'")
    folders = tuple(str(folder) for folder in catalogs or ())
    name = scenario or "tutorial/3-failures"
    path = shipped.find(name)
    known = name.removesuffix(".yaml") in shipped.names() and path == shipped.find(name.removesuffix(".yaml"))
    given = Base(name.removesuffix(".yaml") if known else name, str(path), tuple(overrides or ()), folders)
    from simulator.explorer.link import started
    from simulator.explorer.server import serve

    serve(started(given), port=port, browser=browser)
