"""Which backend an experiment gets."""

from __future__ import annotations

from simulator.errors import ScenarioError
from simulator.lab.backend import TORCH, Backend


def backend(name: str) -> Backend:
    """Return the backend `name`; ``auto`` is torch where it is installed."""
    if name in ("auto", "torch"):
        try:
            from simulator.lab.torch_backend import TorchBackend

            return TorchBackend()
        except ImportError:
            if name == "torch":
                raise ScenarioError(TORCH) from None
    if name in ("auto", "numpy"):
        from simulator.lab.numpy_backend import NumpyBackend

        return NumpyBackend()
    raise ScenarioError(f"no backend named {name[:40]!r}; there are auto, numpy, torch")
