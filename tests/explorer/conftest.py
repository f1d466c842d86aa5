"""A server and a browser for the tests that need them (marker `browser`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import GPT_3, Page, browser, served


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server is started: GPT-3 175B on 1,024 A100, and a catalog that holds a hostile name."""
    made = tmp_path_factory.mktemp("served")
    (made / "gpt3.yaml").write_text(GPT_3)
    (made / "catalog" / "host").mkdir(parents=True)
    (made / "catalog" / "host" / "<b>bold<b>.yaml").write_text("base: dgx-a100\nsource: nobody\n")
    return made


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    with served("gpt3.yaml", "--catalog", "catalog", cwd=folder) as found:
        yield found


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory, downloads: Path) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile"), downloads) as driver:
        yield driver


@pytest.fixture
def page(chromium: Any, address: str) -> Page:
    return Page(chromium, address)
