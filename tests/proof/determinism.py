"""Runs the same commands in every way there is, and compares every byte they print or write.

    python tests/proof/determinism.py                            this environment: processes, hashes, Dask
    python tests/proof/determinism.py --python python3.12 ...    also wheels in fresh environments: needs pip
    python tests/proof/determinism.py --lowest                   also one with the lowest versions allowed: needs uv

Prints a line a way, with the hash of all that came out; exit code 1 where one differs from the first.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIO = "tutorial/3-failures"
ALONE = [
    ["run", SCENARIO, "--runs", "20", "--json"],
    ["run", "published/gpt-3-175b-korthikanti", "--json"],
    ["validate", "--family", "KOR", "--family", "ZB", "--csv"],
    ["plan", "--flops", "1e24", "--json"],
    ["check", "tutorial/1-one-host", "tutorial/2-a-rack", SCENARIO],
]
STUDIES = [
    ["sweep", SCENARIO, "--vary", "failures.scale=[1,2]", "--vary", "seed=[0,1,2]", "--runs", "5", "--csv"],
    ["layouts", "tutorial/2-a-rack", "--set", "search.context=[1]", "--csv", "--quick"],
    ["stress", SCENARIO, "--vary", "cluster.spares=[2,4]", "--vary", "failures.scale=[1,2]", "--csv"],
]
PICTURES = (".png", ".svg", ".pdf")
"""Other versions of Matplotlib draw other bytes; the numbers are compared everywhere, drawings within one version."""


def digest(python: str, *where: str, folder: Path, drawings: bool = False, seed: str = "0") -> str:
    """Return the hash of all that the commands print and write."""
    found = hashlib.sha256()
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    environment.pop("PYTHONPATH", None)
    if python == sys.executable:
        environment["PYTHONPATH"] = str(ROOT)
    for number, study in enumerate([*ALONE, *STUDIES]):
        out = folder / str(number)
        more = [*where, "--out", str(out)] if study in STUDIES else []
        done = subprocess.run(
            [python, "-m", "simulator", *study, *more], cwd=folder, env=environment, capture_output=True, timeout=1800
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(study)}: {done.stderr.decode()}")
        found.update(done.stdout)
        for file in sorted(out.rglob("*")):
            if file.is_file() and (drawings or file.suffix not in PICTURES):
                found.update(file.read_bytes())
    return found.hexdigest()[:16]


@contextmanager
def dask() -> Iterator[str]:
    from distributed import LocalCluster

    sys.path.insert(0, str(ROOT))  # workers take this over, and import what is compared, not what is installed
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def installed(python: str, home: Path, *, lowest: bool = False) -> str:
    """Return the Python of a fresh environment with the wheel of this checkout."""
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    own = str(home / "bin" / "python")
    if lowest:
        command = ["uv", "pip", "install", "--quiet", "--python", own, "--resolution", "lowest-direct", "-r"]
        subprocess.run([*command, str(ROOT / "pyproject.toml")], check=True)
    subprocess.run([own, "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
    return own


def ways(asked: argparse.Namespace, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what each way is called, and the hash of what came out."""

    def at(name: str) -> Path:
        (folder / "runs" / name).mkdir(parents=True)
        return folder / "runs" / name

    here = sys.executable
    for jobs in ("1", "2", "5"):
        yield f"this checkout, {jobs} processes", digest(here, "--jobs", jobs, folder=at(jobs), seed=jobs)
    yield "this checkout, PYTHONHASHSEED=4242", digest(here, "--jobs", "2", folder=at("hash"), seed="4242")
    with dask() as address:
        yield "this checkout, Dask", digest(here, "--dask", address, folder=at("dask"))
    for python in asked.python:
        version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        own = installed(python, folder / version.split()[-1])
        yield f"wheel, {version}, newest dependencies", digest(own, "--jobs", "2", folder=at(version.split()[-1]))
    if asked.lowest:
        own = installed(here, folder / "lowest", lowest=True)
        yield "wheel, lowest dependencies", digest(own, "--jobs", "2", folder=at("lowest"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--lowest", action="store_true")
    asked = parser.parse_args()
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, digested in ways(asked, Path(folder)):
            found[name] = digested
            same = "same" if digested == next(iter(found.values())) else "DIFFERS"
            print(f"{digested}  {same}  {name}", flush=True)  # noqa: T201
    differ = sum(one != next(iter(found.values())) for one in found.values())
    print(f"{len(found)} ways, {differ} differ")  # noqa: T201
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
