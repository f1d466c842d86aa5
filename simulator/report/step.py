"""The section on one optimizer step: how long, where the time goes, and what that is of the peak."""

from __future__ import annotations

from simulator.io.readable import CONVENTIONS, chance, digits, duration, duration_like, percent, prefixed
from simulator.outcome.results import STEP_PARTS, Result, StepResult
from simulator.plots import colours
from simulator.report import doubt
from simulator.report.section import Fact, Part, Section


def section(result: Result) -> Section:
    step = result.step
    write = duration_like(step.time_s)
    return Section(
        name="step",
        title="Step",
        answer=f"{duration(step.time_s)}, likely {duration(step.time_low_s)} to {duration(step.time_high_s)}",
        parts=tuple(
            Part(
                label=part,
                value=write(step.parts_s[part]),
                share=step.parts_s[part] / step.time_s,
                colour=colours.STEP[part],
            )
            for part in STEP_PARTS
            if step.parts_s.get(part, 0.0) > 0
        ),
        facts=(*_utilization(result), *_speed(step)),
        notes=doubt.lines(step.error),
        pictures=("waterfall", "pipeline"),
    )


def _utilization(result: Result) -> tuple[Fact, ...]:
    """MFU counts what the model needs, HFU also what is computed twice."""
    step = result.step
    if step.mfu is None:
        return ()
    facts = [Fact(label="MFU", value=percent(step.mfu), note=_measured_by(result))]
    if step.hfu is not None:
        facts.append(Fact(label="HFU", value=percent(step.hfu), note="the same with what recompute does again"))
    counted = {"6n": step.tflops_per_gpu_6n, "causal": step.tflops_per_gpu_causal, "full": step.tflops_per_gpu_full}
    facts += [
        Fact(label="TFLOP/s a GPU" if name == "6n" else "", value=digits(value), note=CONVENTIONS[name])
        for name, value in counted.items()
        if value is not None
    ]
    return tuple(facts)


def _speed(step: StepResult) -> tuple[Fact, ...]:
    facts = [
        Fact(
            label="tokens a second",
            value=prefixed(step.tokens_per_s),
            note=f"{digits(step.tokens_per_s_per_gpu, 4)} a GPU",
        )
    ]
    if step.dropped_tokens > 0:
        facts.append(Fact(label="dropped", value=percent(step.dropped_tokens), note="of visits find their expert full"))
    if step.p_slow_host > 0:
        facts.append(Fact(label="slow host", value=chance(step.p_slow_host), note="chance that one is among the hosts"))
    return tuple(facts)


def _measured_by(result: Result) -> str:
    """Return what MFU counts, and of which peak."""
    step = result.step
    if step.mfu_convention not in CONVENTIONS:
        return step.mfu_convention
    precision = result.scenario.get("training", {}).get("precision", "")
    kind = precision.get("kind", "") if isinstance(precision, dict) else precision
    peak = f" over the dense {kind} peak of {digits(step.waterfall[0][1] / 1e12)} TFLOP/s" if step.waterfall else ""
    return CONVENTIONS[step.mfu_convention] + peak
