"""Arithmetic by torch, on a GPU where there is one."""

from __future__ import annotations

import platform
from typing import Any

import torch

from simulator.lab.backend import Work
from simulator.units import Count

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class TorchBackend:
    name = "torch"

    def __init__(self) -> None:
        self.gpu = torch.cuda.is_available()
        self.device = torch.cuda.get_device_name() if self.gpu else f"{platform.machine()} processor"
        self.dtypes: tuple[str, ...] = ("fp32", "bf16") if self.gpu else ("fp32",)

    def product(self, m: Count, n: Count, k: Count, dtype: str) -> Work:
        a, b = self._filled(m, k, dtype=dtype), self._filled(k, n, dtype=dtype)
        out = self._filled(m, n, dtype=dtype)
        return self._finished(lambda: torch.mm(a, b, out=out))

    def add(self, elements: Count, dtype: str) -> Work:
        a, b, out = (self._filled(elements, dtype=dtype) for _ in range(3))
        return self._finished(lambda: torch.add(a, b, out=out))

    def _filled(self, *sizes: int, dtype: str) -> Any:
        return torch.randn(*sizes, device="cuda" if self.gpu else "cpu").to(DTYPES[dtype])

    def _finished(self, work: Work) -> Work:
        if not self.gpu:
            return work

        def whole() -> None:
            work()
            torch.cuda.synchronize()

        return whole
