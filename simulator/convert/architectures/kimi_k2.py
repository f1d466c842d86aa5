"""Kimi K2: the architecture of DeepSeek-V3 under a name of its own."""

from __future__ import annotations

from dataclasses import replace

from simulator.convert.architectures.deepseek_v3 import ARCHITECTURE as DEEPSEEK_V3

ARCHITECTURE = replace(DEEPSEEK_V3, model_type="kimi_k2")
