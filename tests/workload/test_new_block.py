"""A new mixer is a class with what it says of itself; parameters, FLOPs, memory, time and the reader follow from it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from gate_block import Gate

from simulator.engine.prices.assembly import assembly
from simulator.engine.step.local_clock import alone
from simulator.scenario import Scenario, from_dict
from simulator.simulation import fits, predict
from simulator.workload import layer
from simulator.workload.flops import flops_per_token
from simulator.workload.layers import blocks_of
from simulator.workload.model import Model
from simulator.workload.operations import Exchange, Gemm, Traffic
from simulator.workload.parameters import layer_on_rank, parameters, total_parameters

LAYERS, HIDDEN, FFN, VOCABULARY, SEQUENCE, STATE = 4, 1024, 4096, 128, 2048, 16


MODEL = Model(layers=LAYERS, hidden=HIDDEN, heads=8, ffn=FFN, vocabulary=VOCABULARY, gated=False, attention=Gate())


def scenario(tensor: int = 1, **more: object) -> Scenario:
    """Return a scenario of two microbatches on one host, whose host's time is nothing."""
    read = from_dict(
        {
            "version": 1,
            "model": {"layers": LAYERS, "hidden": HIDDEN, "heads": 8, "vocabulary": VOCABULARY},
            "cluster": {"host": {"base": "dgx-h100", "gpus": tensor}, "hosts": 1},
            "parallelism": {"tensor": tensor},
            "training": {"steps": 10, "sequence_length": SEQUENCE, "global_batch": 2, "microbatch": 1, **more},
        }
    )
    return replace(read, model=MODEL, stack=replace(read.stack, cuda_graphs=True, cpu_step=0.0, cpu_microbatch=0.0))


def test_its_parameters_are_counted_with_those_of_the_layer() -> None:
    layers = LAYERS * (3 * HIDDEN**2 + 2 * HIDDEN * FFN + 2 * HIDDEN)
    assert parameters(MODEL)["gate_in"] == 2 * parameters(MODEL)["gate_out"] == LAYERS * 2 * HIDDEN**2
    assert total_parameters(MODEL) == layers + 2 * VOCABULARY * HIDDEN + HIDDEN


@pytest.mark.parametrize("tensor", [1, 2, 4])
def test_each_rank_holds_what_its_parts_say(tensor: int) -> None:
    rank = assembly(scenario(tensor)).units.rank
    held = layer_on_rank(rank, blocks_of(MODEL, 0))
    assert held == ((3 * HIDDEN**2 + 2 * HIDDEN * FFN) / tensor + 2 * HIDDEN, 0)


def test_its_flops_are_those_of_its_parameters_and_its_own() -> None:
    multiplied = total_parameters(MODEL) - VOCABULARY * HIDDEN
    assert flops_per_token(MODEL, SEQUENCE) == 6 * multiplied + LAYERS * 6 * STATE * HIDDEN


@pytest.mark.parametrize("tensor", [1, 2, 4])
def test_a_layer_keeps_its_terms_beside_those_of_norms_and_mlp(tensor: int) -> None:
    rank = assembly(scenario(tensor)).units.rank
    streams, scattered = SEQUENCE * HIDDEN * 2, tensor if rank.sequence else 1
    mlp = 2 * (FFN + FFN) / tensor * SEQUENCE
    assert layer.kept_bytes(rank, blocks_of(MODEL, 0)) == 4 * streams / scattered + 3 * streams / tensor + mlp


@pytest.mark.parametrize("tensor", [1, 2])
def test_a_layer_takes_the_sum_of_its_kernels_and_exchanges(tensor: int) -> None:
    built = assembly(scenario(tensor))
    seconds, stream = built.durations.seconds, SEQUENCE * HIDDEN * 2
    scattered = stream / (tensor if built.units.rank.sequence else 1)
    forward = [
        *(Traffic(2 * scattered), Gemm(SEQUENCE, 2 * HIDDEN // tensor, HIDDEN)),
        *(Traffic(3 * stream / tensor), Gemm(SEQUENCE, HIDDEN, HIDDEN // tensor), Traffic(3 * scattered)),
        *(Traffic(2 * scattered), Gemm(SEQUENCE, FFN // tensor, HIDDEN), Traffic(2 * 2 * FFN / tensor * SEQUENCE)),
        *(Gemm(SEQUENCE, HIDDEN, FFN // tensor), Traffic(3 * scattered)),
    ]
    if tensor > 1:
        ways = ("all_gather", "reduce_scatter") if built.units.rank.sequence else ("all_reduce",)
        forward += [Exchange("tensor", way, stream) for way in ways for _ in range(2)]
    unit = built.units.layer(blocks_of(MODEL, 0))
    assert alone(unit.phases["F"]).seconds == pytest.approx(sum(map(seconds, forward)))


def test_full_recompute_keeps_the_input_and_does_its_forward_again() -> None:
    built = assembly(scenario(recompute="full"))
    rank, blocks = built.units.rank, blocks_of(MODEL, 0)
    full = built.replica.recompute
    assert layer.kept(rank, blocks, full) == {"layer input": SEQUENCE * HIDDEN * 2}
    again = [one.name for one in layer.recomputed(rank, blocks, full)]
    assert again == [one.name for one in layer.forward(rank, blocks)]


def test_memory_is_the_layers_kept_and_the_gradients_of_one() -> None:
    whole = scenario()
    kept = layer.kept_bytes(assembly(whole).units.rank, blocks_of(MODEL, 0))
    stream, inner = SEQUENCE * HIDDEN * 2, SEQUENCE * FFN * 2
    (stage,) = fits(whole).stages
    assert stage["weights_bytes"] == 2 * total_parameters(MODEL)
    assert stage["activations_bytes"] == LAYERS * kept + inner + stream


def test_a_step_is_its_microbatches_layer_by_layer() -> None:
    whole = scenario()
    units = assembly(whole).units
    pieces = [units.embedding, *([units.layer(blocks_of(MODEL, 0))] * LAYERS), units.head(beside_embedding=False)]
    each = sum(alone(unit.phases[way]).seconds for unit in pieces for way in "FB")
    assert predict(whole).parts_s["compute"] == pytest.approx(2 * each)


def test_a_scenario_names_it_by_its_kind(tmp_path: Path) -> None:
    lines = [
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})",
        "from typing import ClassVar; from dataclasses import dataclass; from gate_block import Gate",
        "@dataclass(frozen=True, kw_only=True)",
        "class Named(Gate):",
        "    kind: ClassVar[str] = 'gate'",
        "from simulator.cli import main; sys.exit(main())",
    ]
    model = f"{{layers: {LAYERS}, hidden: {HIDDEN}, heads: 8, vocabulary: {VOCABULARY}, gated: false, attention: "
    training = "{steps: 10, sequence_length: 2048, global_batch: 2}"
    case = tmp_path / "case.yaml"
    found = {}
    for kind in ("full", "{kind: gate, state: 16}", "{state: 16}"):
        cluster = "{host: {base: dgx-h100, gpus: 1}, hosts: 1}"
        case.write_text(f"version: 1\nmodel: {model}{kind}}}\ncluster: {cluster}\ntraining: {training}\nruns: 1\n")
        command = [sys.executable, "-c", "\n".join(lines), "run", str(case), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found[kind] = json.loads(done.stdout)
    full, gate, guessed = (found[kind] for kind in found)
    assert gate["step"] == guessed["step"]
    assert full["model"]["parameters"] - gate["model"]["parameters"] == LAYERS * HIDDEN**2
