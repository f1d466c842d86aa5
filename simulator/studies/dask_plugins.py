"""Plugins on the workers of a Dask cluster: each loads them before its first item, one that joins later too."""

from __future__ import annotations

from typing import Any

from distributed import WorkerPlugin

from simulator import plugins


class Plugins(WorkerPlugin):
    """The plugins of the process that asks, and no others, such as an earlier study may have left on a worker."""

    def __init__(self, sources: tuple[plugins.Source, ...]) -> None:
        self.sources = sources

    def setup(self, worker: Any) -> None:
        plugins.become(self.sources)
