"""Every wrong file gets exactly the messages that are written beneath it.

A line ``# error: LINE:COLUMN: ...`` at the end of ``wrong/*.yaml`` is one line of the message, without the name of
the file.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import read

FILES = sorted((Path(__file__).parent / "wrong").glob("*.yaml"))
MARK = "# error: "


def test_the_corpus_is_large():
    assert len(FILES) >= 60


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_wrong_file_says_what_to_change(file):
    expected = [line.removeprefix(MARK) for line in file.read_text().splitlines() if line.startswith(MARK)]
    start = time.perf_counter()
    with pytest.raises(ScenarioError) as caught:
        read(file)
    assert time.perf_counter() - start < 2
    assert str(caught.value).replace(f"{file}:", "").splitlines() == expected
