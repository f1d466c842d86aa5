"""A Dask cluster as an executor, and what it says while it has no workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from gc import collect
from threading import Event, Thread
from time import sleep
from typing import Any

from simulator import plugins
from simulator.errors import ScenarioError

EVERY = 1.0
"""Seconds between two looks at the workers."""


@contextmanager
def opened(address: str, say: Callable[[str], None]) -> Iterator[tuple[Executor, int]]:
    """Yield the executor of the scheduler at `address` and how many items its workers work on at a time.

    Waits for the first worker. `say` is told when there is none, at the start or later, once each time.
    Raises ScenarioError where no scheduler answers at `address`.
    """
    from logging import CRITICAL, getLogger

    try:
        from distributed import Client

        from simulator.studies.dask_plugins import Plugins
    except ImportError:
        raise ScenarioError("--dask needs Dask; install it with pip install 'foretrain[dask]'") from None
    getLogger("distributed.client").setLevel(CRITICAL)  # what it says of a scheduler that went is a traceback
    failed = None
    try:
        client = Client(address, timeout="3s")
    except OSError as error:
        failed = f"no Dask scheduler answers there: {error}"
    except Exception as error:  # of many kinds: an unknown protocol, no certificates for tls, no library for ucx
        failed = f"expected an address such as tcp://host:8786; Dask says: {error}"
    if failed is not None:
        # What is left of the client closes itself as garbage, for which it needs a lock that the next client may hold.
        collect()
        raise ScenarioError(f"--dask {address}: {failed}")
    workers = _Workers(client, address, say)
    with client:
        try:
            cores = workers.first()
        except Exception as error:
            raise ScenarioError(f"--dask {address}: the scheduler went away: {error}") from None
        client.register_plugin(Plugins(plugins.sources()), name=Plugins.__module__)
        executor = client.get_executor()
        Thread(target=workers.watch, daemon=True).start()
        try:
            yield executor, cores
        finally:
            workers.over.set()
            executor.shutdown(wait=False)


class _Workers:
    """The workers of a scheduler; says once each time that there are none."""

    def __init__(self, client: Any, address: str, say: Callable[[str], None]) -> None:
        self.over = Event()
        self._client, self._address, self._say = client, address, say
        self._missed = False

    def first(self) -> int:
        """Wait for a worker, and return how many items are worked on at a time."""
        while not (cores := self._cores()):
            sleep(EVERY)
        return cores

    def watch(self) -> None:
        """Look after the workers until it is over.

        Closes the client where the scheduler went: whoever waits for a result is told, and not left waiting for what
        was handed in while the client looked for its scheduler.
        """
        while not self.over.wait(EVERY):
            try:
                self._cores()
            except Exception:  # of many kinds, as the connection breaks before, within or after the question
                self._client.close(timeout=EVERY)
                return

    def _cores(self) -> int:
        cores: int = sum(self._client.ncores().values())
        if not cores and not self._missed and not self.over.is_set():
            self._say(
                f"--dask {self._address}: waiting for workers; `dask worker {self._address}` starts one, Ctrl-C stops"
            )
        self._missed = not cores
        return cores
