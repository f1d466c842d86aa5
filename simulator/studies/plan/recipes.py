"""Batch sizes and learning rates that published models were trained with, for models of about the same size."""

from __future__ import annotations

import math
from typing import NamedTuple

from simulator.units import Number


class Recipe(NamedTuple):
    model: str
    parameters: Number
    batch_tokens: Number | None
    """None where it was not said."""
    learning_rate: Number
    source: str


GPT_3 = "arXiv 2005.14165, Table 2.1"
LLAMA_3 = "arXiv 2407.21783, Table 3 and section 3.4.1"
LLAMA_2 = "arXiv 2307.09288, section 2.2"
CHINCHILLA = "arXiv 2203.15556, Table 4"
RECIPES = (
    Recipe("GPT-3 Small", 125e6, 0.5e6, 6.0e-4, GPT_3),
    Recipe("GPT-3 Medium", 350e6, 0.5e6, 3.0e-4, GPT_3),
    Recipe("GPT-3 Large", 760e6, 0.5e6, 2.5e-4, GPT_3),
    Recipe("GPT-3 XL", 1.3e9, 1e6, 2.0e-4, GPT_3),
    Recipe("GPT-3 2.7B", 2.7e9, 1e6, 1.6e-4, GPT_3),
    Recipe("GPT-3 6.7B", 6.7e9, 2e6, 1.2e-4, GPT_3),
    Recipe("GPT-3 13B", 13e9, 2e6, 1.0e-4, GPT_3),
    Recipe("GPT-3 175B", 175e9, 3.2e6, 0.6e-4, GPT_3),
    Recipe("Chinchilla", 70e9, 1.5e6, 1.0e-4, CHINCHILLA),
    Recipe("Llama 2 7B", 7e9, 4e6, 3.0e-4, LLAMA_2),
    Recipe("Llama 2 70B", 70e9, 4e6, 1.5e-4, LLAMA_2),
    Recipe("Llama 3 8B", 8e9, None, 3.0e-4, LLAMA_3),
    Recipe("Llama 3 70B", 70e9, None, 1.5e-4, LLAMA_3),
    Recipe("Llama 3 405B", 405e9, 4e6, 0.8e-4, LLAMA_3),
)
"""The batch a run starts with where it grows: Llama 3 405B doubles it to 8M after 252M tokens, to 16M after 2.87T."""
FARTHEST = 3.0


def near(parameters: Number, count: int = 3) -> tuple[Recipe, ...]:
    """Return the recipes of models between a third and three times the size, the nearest first.

    >>> [recipe.model for recipe in near(7.5e9, 2)]
    ['Llama 3 8B', 'Llama 2 7B']
    """

    def distance(recipe: Recipe) -> float:
        return abs(math.log(recipe.parameters / parameters))

    close = [recipe for recipe in RECIPES if distance(recipe) <= math.log(FARTHEST)]
    return tuple(sorted(close, key=distance)[:count])
