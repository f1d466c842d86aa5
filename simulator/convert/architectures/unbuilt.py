"""Architectures of Hugging Face whose layers have a mixer that no block here says, so that a refusal can name it.

Source of the names: `model_type` of `Mamba2Config`, `NemotronHConfig`, `Qwen3NextConfig`, `Lfm2Config` and
`KimiLinearConfig`, the configuration classes of these models.
"""

from __future__ import annotations

UNBUILT = {
    "kimi_linear": "Kimi delta attention",
    "lfm2": "short convolutions",
    "mamba2": "Mamba-2 state spaces",
    "nemotron_h": "Mamba-2 state spaces",
    "qwen3_next": "the gated delta net",
}
"""Name of the mixer that is missing, by model type."""
