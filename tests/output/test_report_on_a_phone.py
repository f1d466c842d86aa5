"""The report in a browser, from the width of a phone to that of a desk: nothing wider than the page, no word broken."""

from __future__ import annotations

import html as markup
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from simulator.outcome.results import Result
from simulator.report import html

pytestmark = pytest.mark.browser

LONGEST = 24
"""Letters of a word that fits beside a label on a phone; longer ones, such as settings to type, may be broken."""
FRAME = """<!doctype html><iframe id="page" style="border: 0; width: {width}px; height: 900px"></iframe><script>
const frame = document.getElementById("page");
frame.onload = () => {{
  const inside = frame.contentDocument, range = inside.createRange(), broken = [];
  const walk = inside.createTreeWalker(inside.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {{
    const node = walk.currentNode;
    if (node.parentElement.closest("svg, pre, details")) continue;
    for (const word of node.textContent.matchAll(/[^\\s-]+/g)) {{
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(word[0]);
    }}
  }}
  const letters = [...inside.querySelectorAll("figure text")].map(one => one.getBoundingClientRect().height);
  const found = {{ width: inside.documentElement.scrollWidth, broken, letters: Math.min(...letters) }};
  document.body.textContent = JSON.stringify(found);
}};
frame.srcdoc = {page};
</script>"""


def measured(page: str, width: int, folder: Path) -> Any:
    """Return what a browser of this width makes of the page."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium")
    frame = folder / "frame.html"
    # A closing tag inside a script would end it.
    frame.write_text(FRAME.format(width=width, page=json.dumps(page).replace("</", "<\\/")), encoding="utf-8")
    command = [
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=5000",
        "--dump-dom",
        frame.as_uri(),
    ]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.search(r"<body>(\{.*\})</body>", printed)
    assert found is not None, printed[:500]
    return json.loads(markup.unescape(found[1]))


@pytest.mark.parametrize("width", [360, 400, 700, 1400])
def test_the_report_reads_well_at_every_width(width: int, any_result: Result, tmp_path: Path) -> None:
    found = measured(html.write(any_result), width, tmp_path)
    assert found["width"] <= width
    assert [word for word in found["broken"] if len(word) <= LONGEST] == []
    assert found["letters"] >= 8
