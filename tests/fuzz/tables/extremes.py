"""Scale: scenarios that are larger, longer, rarer or smaller than any that there is."""

from __future__ import annotations

from collections.abc import Iterator

from attack import Attack
from small import FAILING, ONE_HOST

HOSTS = "cluster.hosts=1000000"
BATCH = "training.global_batch=8000000"
ONE = ["run", ONE_HOST, "--runs", "1", "--json"]
SETTINGS = {
    "a million GPUs": ["cluster.hosts=125000", "training.global_batch=1000000"],
    "a million hosts": [HOSTS, BATCH],
    "a million hosts of a torus": [HOSTS, BATCH, "cluster.topology={kind: torus, dimensions: [100, 100, 100]}"],
    "a million hosts of a fat tree": [HOSTS, BATCH, "cluster.topology={kind: fat-tree}"],
    "two million hosts": ["cluster.hosts=2000000"],
    "1e15 tokens": ["training.tokens=1e15"],
    "1e30 tokens": ["training.tokens=1e30"],
    "one token": ["training.tokens=1"],
    "a sequence of a billion": ["training.sequence_length=1000000000"],
    "a batch of a billion": ["training.global_batch=1000000000"],
    "10,000 layers": ["model={base: llama-3.1-8b, layers: 10000}"],
    "a vocabulary of a billion": ["model={base: llama-3.1-8b, vocabulary: 1000000000}"],
    "a million experts": ["model={base: mixtral-8x7b, experts: {count: 1000000, active: 2, ffn: 14336}}"],
    "10,000 chunks": ["parallelism={pipeline: 8, schedule: {kind: interleaved-1f1b, chunks: 10000}}"],
    "a pipeline of 1,000": ["parallelism={pipeline: 1000}", "cluster.hosts=125"],
    "tensor 1024": ["parallelism={tensor: 1024}", "cluster.hosts=128"],
    "bandwidth 1e-30": ["cluster.host.nic_bandwidth=1e-30B/s"],
    "bandwidth 1e30": ["cluster.host.nic_bandwidth=1e30B/s"],
    "peak 1e-30": ["cluster.host.gpu.peak={bf16: 1e-30FLOPS}"],
    "hosts at 1e9": ["cluster.hosts=2", "cluster.placement={hosts: [0, 1000000000]}"],
    "hosts at 1e12": ["cluster.hosts=2", "cluster.placement={hosts: [0, 999999999999]}"],
    "a host at -1": ["cluster.hosts=2", "cluster.placement={hosts: [0, -1]}"],
    "a host twice": ["cluster.hosts=2", "cluster.placement={hosts: [0, 0]}"],
    "100,000 runs": ["runs=100000"],
    "a seed of 2^63": ["seed=9223372036854775808"],
    "a seed of 400 digits": [f"seed={'9' * 400}"],
    "no price": ["prices={gpu_hour: $0}"],
    "a price of 1e30": ["prices={gpu_hour: $1e30}"],
    "jitter of 1000%": ["jitter={gpu: 1000%, step: 1000%}"],
}
CAUSES = {
    "mtbf 1e-30 s": "{kind: exponential, unit: gpu, mtbf: 1e-30s}",
    "mtbf 1e30 s": "{kind: exponential, unit: gpu, mtbf: 1e30s}",
    "a shape of 0.05": "{kind: weibull, unit: gpu, mtbf: 1000h, shape: 0.05}",
    "a shape of 20": "{kind: weibull, unit: gpu, mtbf: 1000h, shape: 20}",
    "a shape of 1e-9": "{kind: weibull, unit: gpu, mtbf: 1000h, shape: 1e-9}",
    "a shape of 1e9": "{kind: weibull, unit: gpu, mtbf: 1000h, shape: 1e9}",
    "slow by a million": "{kind: exponential, unit: gpu, mtbf: 100h, effect: slow, slow: 1e6, lasts: 1h}",
    "one that lasts a million years": "{kind: exponential, unit: nic, mtbf: 10h, effect: degrade, lasts: 1000000y}",
    "silence": "{kind: exponential, unit: gpu, mtbf: 1s, effect: corrupt}",
    "flaps each second": "{kind: exponential, unit: nic, mtbf: 1s, effect: flap, lasts: 1s}",
    "100,000 scripted": f"{{kind: scripted, unit: host, at: [{', '.join(f'{n}h' for n in range(100_000))}]}}",
}
POLICIES = {
    "an interval of 1e-30 s": ["checkpoint={kind: fixed, interval: 1e-30s}"],
    "an interval of 1e30 s": ["checkpoint={kind: fixed, interval: 1e30s}"],
    "no checkpoint": ["checkpoint=none"],
    "stops each microsecond": ["failures={preset: llama3, planned: {every: 1us, time: 1s}}"],
    "99% of restarts fail": ["recovery={detect: 60s, restart: 5min, repair: 24h, restart_failure: 99%}"],
    "all restarts fail": ["recovery={detect: 60s, restart: 5min, repair: 24h, restart_failure: 100%}"],
    "repair of a million years": ["recovery={repair: 1000000y}"],
    "nothing takes time": ["recovery={detect: 0s, restart: 0s, repair: 0s}"],
    "a million spares": ["cluster.spares=1000000"],
    "a scale of 1e30": ["failures={preset: llama3, scale: 1e30}"],
    "100,000 runs with failures": ["runs=100000"],
    "a storage of 1 B/s": ["cluster.storage={write: 1B/s, read: 1B/s}"],
}
WORDS = {
    "1e30 runs": ["run", ONE_HOST, "--runs", "1" + "0" * 30],
    "-1 runs": ["run", ONE_HOST, "--runs", "-1"],
    "a million and one points": ["sweep", ONE_HOST, "--vary", "seed={from: 1, to: 1000001, steps: 1000001}"],
    "1e30 points": ["sweep", ONE_HOST, "--vary", "seed={from: 1, to: 2, steps: 1e30}"],
    "points of nothing": ["sweep", ONE_HOST, "--vary", "seed=[]"],
    "points from nan": ["sweep", ONE_HOST, "--vary", "seed={from: nan, to: 2, steps: 3}"],
    "a thousand options": ["check", ONE_HOST, *["--set", "seed=1"] * 1_000],
    "1e30 processes": ["sweep", ONE_HOST, "--vary", "seed=[1,2]", "--quick", "--jobs", "1" + "0" * 30],
    "a limit of nan": ["run", ONE_HOST, "--runs", "1", "--fail-under", "mfu=nan"],
    "a limit of infinity": ["run", ONE_HOST, "--runs", "1", "--fail-under", "mfu=inf"],
    "a limit of nothing": ["run", ONE_HOST, "--runs", "1", "--fail-under", "mfu="],
    "a plan of 1e300": ["plan", "--flops", "1e300", "--json"],
    "a plan of 1e-300": ["plan", "--flops", "1e-300", "--json"],
    "a plan of nan": ["plan", "--flops", "nan"],
    "a plan of no dollars": ["plan", "--dollars", "0", "--gpu", "h100-sxm-80gb", "--gpus", "8", "--price", "2"],
    "a loss below what there is": ["plan", "--loss", "0.1"],
    "a top of 1e30": ["layouts", ONE_HOST, "--quick", "--jobs", "1", "--top", "1" + "0" * 30],
}
MUST_REFUSE = {"a limit of nan", "two million hosts", "points from nan", "a plan of nan", "hosts at 1e12"}
LONG = 120.0


def attacks() -> Iterator[Attack]:
    for what, settings in SETTINGS.items():
        yield _told(what, [*ONE, *(word for one in settings for word in ("--set", one))])
    for what, cause in CAUSES.items():
        yield _told(what, [*ONE, "--set", f"failures={{causes: [{cause}]}}"])
    for what, settings in POLICIES.items():
        words = ["run", FAILING, "--json", *(word for one in settings for word in ("--set", one))]
        yield _told(what, words if "runs" in what else [*words, "--runs", "2"])
    for what, words in WORDS.items():
        yield _told(what, words)


def _told(what: str, words: list[str]) -> Attack:
    return Attack(what, words, codes=(2,) if what in MUST_REFUSE else (0, 1, 2), wait=LONG)
