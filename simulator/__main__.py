"""``python -m simulator`` is ``foretrain``."""

from __future__ import annotations

from simulator.cli import main

main()
