"""Fits of kernel constants to tables of kernels, and how wrong they are on what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.cli._streams import show, working
from simulator.errors import ScenarioError
from simulator.io.writing import fill

if TYPE_CHECKING:
    from simulator.calibration.gemm_left_out import Score
    from simulator.validation.measured_product import Product

KINDS = ("gemm", "attention")
"""Kinds of tables that a fit reads, as `foretrain validate` calls them."""


def rewrite(tables: Sequence[Path], *, out: Path) -> None:
    """Fit the constants of products and of attention again, and write the catalog entries into a folder."""
    from simulator.calibration import attention
    from simulator.calibration.gemm_entry import rewritten

    known = _kinds(tables)
    if products := _products(known):
        with working(f"Fitting {len(products):,} products"):
            fill(out, "gemm.yaml", rewritten(products))
    if paths := [path for path, kind in known if kind == "attention"]:
        with working(f"Fitting attention of {len(paths)} tables"):
            fill(out, "attention.yaml", attention.rewritten(paths))


def left_out(tables: Sequence[Path], names: Sequence[str], *, as_json: bool) -> None:
    """Show how wrong products of what is left out are by what all others say."""
    from simulator.calibration import gemm_left_out
    from simulator.io.printable import json_text

    rows = _products(_kinds(tables))
    if not rows:
        raise ScenarioError("--leave-out: no table of products; those of --kernels have m, n, k and time_us")
    found: list[tuple[str, Score]] = []
    for name in names:
        first, _, what = name.partition(":")
        kind = what if first == "each" else first
        with working(f"Leaving out {name}"):
            for one in _each(rows, kind) if first == "each" else [_known(rows, kind, what)]:
                left = gemm_left_out.without_gpu if kind == "gpu" else gemm_left_out.without_architecture
                found += [(f"{kind}:{one}", score) for score in left(rows, one)]
    if as_json:
        show(json_text([{"left_out": name, **score._asdict()} for name, score in found]))
    else:
        show("\n".join(_lines(found)))


def _lines(found: Sequence[tuple[str, Score]]) -> Iterator[str]:
    from simulator.calibration.gemm_left_out import LARGE

    yield f"median and P90 of |ln(predicted / measured)| in %; large: all of m, n, k >= {LARGE}"
    width = max((len(one.gpu) for _, one in found), default=0)
    before = ""
    for name, one in found:
        if name != before:
            yield f"\n{'without ' + name:<{width + 24}}    rows  all  P90  large  P90"
        before = name
        figures = (one.middle, one.most, one.large, one.large_most)
        shown = [f"{100 * value:.0f}" if value == value else "-" for value in figures]
        yield (
            f"{one.gpu:<{width}}  {one.dtype:<9}  {one.regime:<9}  {one.rows:>6}"
            f"  {shown[0]:>3}  {shown[1]:>3}  {shown[2]:>5}  {shown[3]:>3}"
        )


def _each(rows: Sequence[Product], kind: str) -> list[str]:
    from simulator.machine import hardware

    names = {row.gpu for row in rows}
    if kind == "gpu":
        return sorted(names)
    if kind == "architecture":
        return sorted({hardware.gpu(name).architecture for name in names})
    raise ScenarioError(f"--leave-out: found {kind[:40]!r}, expected gpu:NAME, architecture:NAME or each:gpu")


def _known(rows: Sequence[Product], kind: str, name: str) -> str:
    """Return the name of what is left out, as the catalog has it."""
    from simulator import catalog

    known = _each(rows, kind)
    found = catalog.canonical("gpu", name) if kind == "gpu" else name
    if found not in known:
        raise ScenarioError(f"--leave-out: no row of {name[:40]}; the tables have those of {', '.join(known)}")
    return found


def _kinds(tables: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return the kind of each table; raises ScenarioError with the mistakes in one, or where it is of another kind."""
    from simulator.validation import files

    found = [(path, files.read(path).suite.kind) for path in tables]
    for path, kind in found:
        if kind not in KINDS:
            raise ScenarioError(f"{path}: a table of {kind}; --kernels fits those of {' and '.join(KINDS)}")
    return found


def _products(known: Sequence[tuple[Path, str]]) -> list[Product]:
    from simulator.calibration.gemm_rows import products

    return [row for path, kind in known if kind == "gemm" for row in products(path)]
