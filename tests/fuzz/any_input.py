"""Throws random inputs at every door, and counts broken promises; the figures on the page on validation.

    python tests/fuzz/any_input.py                     10,000 inputs, some ten minutes on two processors
    python tests/fuzz/any_input.py --inputs 300 --door check --seed 7
    python tests/fuzz/any_input.py --say messages.txt  also writes one message in forty, to be read by a person

Every input is a function of the seed and its number. What breaks a promise is printed with the input, and kept in
a file that is named; exit code 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

BATCH = 200
"""Inputs of one process, whose memory is measured."""
WEIGHTS = {"scenario": 8, "check": 8, "set": 8, "link-text": 6, "link-set": 6, "link": 3, "report": 0.4}
"""Against 1 for the other doors."""


class Batch(NamedTuple):
    codes: Counter[int]
    complaints: list[tuple[str, int, str, bytes]]
    messages: list[str]
    slowest: tuple[float, str, int]
    largest: tuple[int, str, int]
    """Bytes."""


def inputs(seed: int, first: int, count: int, names: list[str]) -> Batch:
    """Return what became of `count` inputs."""
    sys.path.insert(0, str(Path(__file__).parent))
    sys.dont_write_bytecode = True
    faulthandler.dump_traceback_later(7200, exit=True)
    from doors import doors
    from judge import MEMORY, tried
    from mutation import mutated

    warnings.simplefilter("error")
    known = {name: door for name, door in doors().items() if not names or name in names}
    weights = [WEIGHTS.get(name, 1) for name in known]
    seeds = {name: door.seeds() for name, door in known.items()}
    codes: Counter[int] = Counter()
    complaints, messages, slowest, largest = [], [], (0.0, "", 0), (0, "", 0)
    for number in range(first, first + count):
        dice = random.Random(f"{seed} {number}")
        name = dice.choices(list(known), weights)[0]
        text = mutated(dice.choice(seeds[name]), dice, seeds[name])
        forget_peak()
        with tempfile.TemporaryDirectory() as folder:
            found = tried(known[name], text, Path(folder))
        codes[found.code] += 1
        slowest = max(slowest, (found.seconds, name, number))
        largest = max(largest, (peak(), name, number))
        if largest[0] > MEMORY and largest[2] == number:
            complaints.append((name, number, f"took {largest[0] / 1e6:,.0f} MB", text))
        if found.complaint:
            complaints.append((name, number, found.complaint, text))
        if number % 40 == 0 and found.code == 2:
            messages.append(f"{name} {number}\n{found.said}")
    return Batch(codes, complaints, messages, slowest, largest)


def forget_peak() -> None:
    """Let the memory of this process, as its system remembers the largest, begin anew."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Return the largest memory since then, in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--door", action="append", default=[])
    parser.add_argument("--say", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    start, batches = time.perf_counter(), []
    last = asked.first + asked.inputs
    firsts = range(asked.first, last, BATCH)
    kept = Path(tempfile.mkdtemp(prefix="foretrain-fuzz-"))
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        waiting = [pool.submit(inputs, asked.seed, n, min(BATCH, last - n), asked.door) for n in firsts]
        for future in waiting:
            batches.append(future.result())
            for name, number, what, text in batches[-1].complaints:
                file = kept / f"{name}-{number}"
                file.write_bytes(text)
                print(f"{name} {number}: {what}\n    {file}", flush=True)  # noqa: T201
    codes = sum((batch.codes for batch in batches), Counter())
    complaints = [complaint for batch in batches for complaint in batch.complaints]
    slowest, largest = max(batch.slowest for batch in batches), max(batch.largest for batch in batches)
    if asked.say:
        asked.say.write_text("\n".join(text for batch in batches for text in batch.messages), encoding="utf-8")
    print(  # noqa: T201
        f"{sum(codes.values()):,} inputs, seed {asked.seed}: {codes[0]:,} answered, {codes[1]:,} answered no, "
        f"{codes[2]:,} refused with a message;\n{len(complaints)} broken promises; slowest {slowest[0]:.1f} s "
        f"({slowest[1]} {slowest[2]}); most memory {largest[0] / 1e6:.0f} MB ({largest[1]} {largest[2]}); "
        f"{time.perf_counter() - start:.0f} s in {asked.jobs} processes"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
