"""The terms of the physics that ``--without`` switches off, so that the worth of each is known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from simulator.errors import ScenarioError

TERMS = {
    "products": "matrix products",
    "attention": "the core of attention",
    "elementwise": "norms, activations, casts and what else moves memory",
    "recompute": "the forward that is done twice",
    "ends": "embedding, head and loss",
    "host": "the time the host needs to launch kernels",
    "optimizer": "the optimizer step",
    "offload": "copies to and from the host, and the optimizer there",
    "tensor": "collectives of tensor and sequence parallelism",
    "context": "collectives of context parallelism",
    "expert": "dispatch and combine of experts",
    "data": "gathers and reductions over replicas",
    "pipeline": "sends between stages",
    "bubble": "waiting in the pipeline",
    "fitted": "the fit on runs: shared constants stand at their priors, beside kernels, collectives and data sheets",
}


def known(names: Iterable[str]) -> frozenset[str]:
    """Return the names as a set; raise ScenarioError for one that is no term."""
    found = frozenset(names)
    for name in sorted(found - TERMS.keys()):
        near = get_close_matches(name, TERMS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(TERMS)}"
        raise ScenarioError(f"--without: no term {name[:40]!r}; {hint}")
    return found
