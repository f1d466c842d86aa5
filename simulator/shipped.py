"""Where the scenarios that come with the program are, in a checkout and in an installation."""

from __future__ import annotations

from pathlib import Path

from simulator.errors import ScenarioError


def folder() -> Path:
    """Return the folder of shipped scenarios."""
    installed = Path(__file__).parent / "scenarios"
    return installed if installed.is_dir() else installed.parents[1] / "scenarios"


def names() -> list[str]:
    """Return the name of each shipped scenario, such as ``tutorial/1-one-host``."""
    root = folder()
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.yaml"))


def find(text: str) -> Path:
    """Return the file that `text` means: a path, else the name of a shipped scenario."""
    given = Path(text)
    try:
        if given.exists():
            return given
    except (OSError, ValueError):
        raise ScenarioError(f"{text[:200]!r}: no system has a file of this name") from None
    known = names()
    if text.removesuffix(".yaml") in known:
        return folder() / f"{text.removesuffix('.yaml')}.yaml"
    raise ScenarioError(f"{text}: no such file, and no scenario of this name is shipped{_hint(text, known)}")


def _hint(text: str, known: list[str]) -> str:
    from difflib import get_close_matches

    last = text.removesuffix(".yaml").rpartition("/")[2]
    near = get_close_matches(text, known) or [name for name in known if last and last in name.rpartition("/")[2]]
    return f"; did you mean {' or '.join(near[:3])}?" if near else "; `foretrain catalog scenario` lists them"
