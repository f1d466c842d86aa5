"""Where the points of a study are worked out: here, in processes of this machine, or on a Dask cluster.

All three are executors of `concurrent.futures`; results come back in the order of the items, whoever computed them
first, so that a study says the same from any of them.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from simulator import plugins
from simulator.errors import ScenarioError
from simulator.studies import dask_cluster

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
AHEAD = 4
"""Items a worker that are handed out before their results are asked for; bounds the memory of a long study."""


def processors() -> int:
    """Return the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Here(Executor):
    """Works an item out when it is handed in."""

    def submit(self, function: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> Future[R]:
        future: Future[R] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(ProcessPoolExecutor):
    """Processes of this machine, to which Ctrl-C says nothing, not even while they start; it is for the parent."""

    def __init__(self, workers: int) -> None:
        from multiprocessing import get_context

        context, brought = get_context("spawn"), plugins.sources()
        super().__init__(workers, mp_context=context, initializer=_start, initargs=(brought,))

    def submit(self, function: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> Future[R]:
        with _interrupts_held():
            return super().submit(function, *arguments, **named)


@contextmanager
def opened(
    jobs: int | None = None, dask: str | None = None, say: Callable[[str], None] = lambda message: None
) -> Iterator[tuple[Executor, int]]:
    """Yield an executor and how many items it works on at a time; `jobs` processes, all processors where left out.

    What is not finished when the block is left, by an error or by Ctrl-C, is dropped. `say` is told what a Dask cluster
    waits for.
    """
    workers = jobs or processors()
    if dask is not None:
        with dask_cluster.opened(dask, say) as found:
            yield found
    elif workers == 1:
        yield Here(), 1
    else:
        pool = Processes(workers)
        try:
            yield pool, workers
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def in_order(
    function: Callable[[T], R], items: Iterable[T], executor: Executor, workers: int, *, ahead: int = AHEAD
) -> Iterator[R]:
    """Yield `function` of each item in the order of the items."""
    window = 1 if isinstance(executor, Here) else ahead * workers
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(executor.submit(function, item))
        if len(waiting) >= window:
            yield _result(waiting.popleft())
    while waiting:
        yield _result(waiting.popleft())


def spread(function: Callable[[T], R], items: Iterable[T], jobs: int | None = None) -> Iterator[R]:
    """Yield `function` of each item in the order of the items, from processes that are started when the first is."""
    with opened(jobs) as (executor, workers):
        yield from in_order(function, items, executor, workers)


def _result(future: Future[R]) -> R:
    """Return the result of `future`; a worker that is gone is said, not what its executor makes of it."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _lost() from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "distributed":
            raise _lost() from error
        raise


def _lost() -> ScenarioError:
    return ScenarioError(
        "a worker ended before its point was done, killed or out of memory; start the same command again with fewer "
        "--jobs; with --out it goes on from what is done"
    )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back; a process that is started meanwhile never sees it, and what came is delivered at the end."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(brought: tuple[plugins.Source, ...]) -> None:
    """Begin a process that works for this one, with the plugins that are loaded here."""
    _stay_with_parent()
    plugins.become(brought)


def _stay_with_parent() -> None:
    """Leave Ctrl-C to the parent, and end when the parent does, even where it was killed."""
    from multiprocessing import parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
