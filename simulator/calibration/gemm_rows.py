"""Tables of measured matrix products, without rows that say nothing about real data."""

from __future__ import annotations

from pathlib import Path

from simulator.calibration import kernels
from simulator.validation.measured_product import Product, constant, product


def products(path: Path) -> list[Product]:
    """Return the rows of a table of products that say something about real data."""
    return [product(row) for row in kernels.table(path) if not constant(row)]
