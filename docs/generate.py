"""Writes what the program knows about itself into the documentation.

    python docs/generate.py              the reference pages, from the code and the catalog
    python docs/generate.py --check      compare them only; 1 where one is not current
    python docs/generate.py examples     run the commands that pages show, and write what they print
    python docs/generate.py images       draw the pictures, from runs of shipped scenarios and tables
    python docs/generate.py validation   predict every published measurement (an hour)
    python docs/generate.py left-out     only its section on what was left out, from the files beside the generator

Tests hold the pages to the code; none of these files is edited by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

from generators import entries, examples, images, python, scaling, stacks, validation  # noqa: E402
from generators.commands import commands  # noqa: E402

from simulator.scenario import reference  # noqa: E402

REFERENCE = DOCS / "reference"


def pages() -> dict[Path, str]:
    """Return the text of every reference page that is generated."""
    return {
        REFERENCE / "cli.md": commands(),
        REFERENCE / "scenario.md": reference.page(),
        REFERENCE / "stacks.md": stacks.page(),
        REFERENCE / "python.md": python.page(),
        **{REFERENCE / f"catalog-{name}.md": text for name, text in entries.pages().items()},
    }


def stale(wanted: dict[Path, str]) -> list[Path]:
    """Return the pages that do not say what they should."""
    return [page for page, text in wanted.items() if not page.is_file() or page.read_text(encoding="utf-8") != text]


def main(arguments: list[str]) -> int:
    """Write what `arguments` name, or with ``--check`` name the reference pages that are not current."""
    words = [word for word in arguments if not word.startswith("-")] or ["reference"]
    for word in words:
        if word == "examples":
            examples.rewrite(DOCS.parent)
        elif word == "images":
            images.draw(DOCS / "images")
            scaling.draw(DOCS / "images")
        elif word == "validation":
            (DOCS / "validation.md").write_text(validation.page(), encoding="utf-8")
        elif word == "left-out":
            page = DOCS / "validation.md"
            page.write_text(validation.with_left_out(page.read_text(encoding="utf-8")), encoding="utf-8")
        elif word == "reference":
            wanted = pages()
            old = stale(wanted)
            if "--check" in arguments:
                sys.stderr.writelines(f"{page}: not current; run python docs/generate.py\n" for page in old)
                return 1 if old else 0
            for page in old:
                page.write_text(wanted[page], encoding="utf-8")
        else:
            sys.stderr.write(f"{word}: write reference, examples, images, validation or left-out\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
