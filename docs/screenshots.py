"""Takes the screenshots of the explorer that pages show.

python docs/screenshots.py        needs the extra `browser-test`, and Debian's chromium and chromium-driver
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "tests" / "explorer")]

from browsing import GPT_3, Page, browser, served  # noqa: E402

IMAGES = DOCS / "images"
WIDE, PHONE = 1280, 390
HIDDEN = "[data-testid='stToolbar'], [data-testid='stDecoration'] { visibility: hidden }"
"""What says nothing on a picture."""


def shoot(page: Page, name: str, view: str, *changes: str, width: int = WIDE, height: int = 900) -> None:
    """Save the page of a view as it is once it has settled."""
    page.open(f"?{urlencode({'view': view, 'set': changes}, doseq=True)}", width=width, height=height)
    page.settle()
    page.driver.execute_script(
        "const sheet = document.createElement('style'); sheet.textContent = arguments[0]; document.head.append(sheet)",
        HIDDEN,
    )
    page.driver.save_screenshot(str(IMAGES / f"explorer-{name}.png"))


def main() -> None:
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "gpt3.yaml").write_text(GPT_3)
        (folder / "profile").mkdir()
        with served("gpt3.yaml", cwd=folder) as address, browser(folder / "profile", folder) as driver:
            page = Page(driver, address)
            shoot(page, "step", "Step")
            shoot(page, "refused", "Step", "parallelism.tensor=7", height=1400)
            shoot(page, "pipeline", "Pipeline", "training.global_batch=512", height=1000)
            shoot(page, "layouts", "Layouts", height=1250)
            shoot(page, "what-if", "What if", height=1050)
            shoot(page, "trust", "Trust", height=1100)
            shoot(page, "phone", "Step", width=PHONE, height=844)


if __name__ == "__main__":
    main()
