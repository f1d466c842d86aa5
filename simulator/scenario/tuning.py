"""What `training.method` and `training.freeze` must fit: the matrices and the layers of the model."""

from __future__ import annotations

from simulator.scenario.mistakes import Mistakes, did_you_mean, listed
from simulator.workload.layers import kinds_of
from simulator.workload.methods.base import TARGETS
from simulator.workload.model import Model
from simulator.workload.parameters import trained_parameters
from simulator.workload.training import Training
from simulator.workload.tuning import mistake


def check(model: Model, training: Training, mistakes: Mistakes) -> None:
    """Note targets and parts to freeze that the model does not have, and a run in which nothing learns."""
    before = len(mistakes)
    for place, text in enumerate(training.freeze):
        if why := mistake(text, model.layers):
            mistakes.add(("training", "freeze", place), why)
    _check_targets(model, training, mistakes)
    tuning = training.tuning
    if tuning.everything or len(mistakes) > before:
        return
    if model.mtp:
        mistakes.add(
            ("training", "method"),
            "the model has multi-token-prediction modules, which fine-tuning leaves out; set model.mtp to 0",
        )
    ends = [tuning.end("embedding") == "whole", tuning.end("head") == "whole"]
    if model.tied and any(ends) and not all(ends):
        mistakes.add(("training",), "embedding and head are one matrix in this model; train both, or freeze both")
    elif not trained_parameters(model, tuning):
        mistakes.add(("training", "freeze"), "nothing is left to train")


def _check_targets(model: Model, training: Training, mistakes: Mistakes) -> None:
    linears = [linear for blocks in kinds_of(model) for block in blocks for linear in block.linears(model)]
    names = {matrix.name for linear in linears for matrix in linear.matrices}
    for place, target in enumerate(training.method.named):
        meant = TARGETS.get(target, ((target,),))
        if any(name in names for group in meant for name in group):
            continue
        at = ("training", "method", "targets", place)
        if target not in TARGETS and target not in names:
            mistakes.add(at, f"{target!r} is no matrix that adapters are known for; {did_you_mean(target, TARGETS)}")
        else:
            mistakes.add(at, f"{target!r} names no matrix of this model, which has {listed(sorted(names))}")
