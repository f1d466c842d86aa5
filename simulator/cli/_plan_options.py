"""Options of `foretrain plan`."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import ScenarioError

Scenario = Annotated[
    str | None,
    typer.Argument(metavar="SCENARIO", help="Cluster, model shape, failures and prices; a YAML file or shipped name."),
]


def _value(name: str, metavar: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=help, rich_help_panel=None)
    return option


def _number(name: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        name, metavar="X", help=help, rich_help_panel=None, callback=_above_zero
    )
    return option


def _above_zero(param: typer.CallbackParam, value: float | None) -> float | None:
    """Refuse what is no amount: zero, less, infinite, or no number."""
    if value is not None and not 0 < value < inf:
        raise ScenarioError(f"{param.opts[0]} {value:g}: a number above zero belongs here")
    return value


Flops = Annotated[str | None, _value("--flops", "N", "FLOPs of training, such as 1e24.")]
Dollars = Annotated[str | None, _value("--dollars", "N", "Money to spend, such as 20M.")]
GpuDays = Annotated[str | None, _value("--gpu-days", "N", "GPU-days to spend.")]
Days = Annotated[str | None, _value("--days", "N", "Days until it has to be done.")]
Params = Annotated[str | None, _value("--params", "N", "Parameters, such as 7B; active ones of experts.")]
Tokens = Annotated[str | None, _value("--tokens", "N", "Tokens of training, such as 15T.")]
Ratio = Annotated[float | None, _number("--tokens-per-param", "Tokens a parameter, such as 20.")]
Loss = Annotated[float | None, _number("--loss", "Loss to reach, of the law that --law names.")]
Law = Annotated[str | None, _value("--law", "NAME", "Whose choice counts; `catalog law` lists them.")]
Unique = Annotated[str | None, _value("--unique", "N", "Different tokens that there are; more is repeated.")]
Serve = Annotated[str | None, _value("--serve", "N", "Tokens that the model will serve.")]
Sparsity = Annotated[float, _number("--sparsity", "Total over active parameters of experts.")]
GpuName = Annotated[str | None, _value("--gpu", "NAME", "Of the catalog; without a scenario.")]
Gpus = Annotated[
    int | None, typer.Option("--gpus", metavar="N", min=1, max=1_024_000_000, help="How many; without a scenario.")
]
Peak = Annotated[str | None, _value("--peak", "FLOPS", "Peak of one GPU, such as 989TFLOPS.")]
Mfu = Annotated[str | None, _value("--mfu", "SHARE", "Share of the peak that training gets, such as 40%.")]
Rate = Annotated[str | None, _value("--rate", "FLOPS", "What one GPU gets, instead of peak and MFU.")]
Factor = Annotated[float, _number("--factor", "FLOPs a token and parameter; 8 with full recompute.")]
Price = Annotated[str | None, _value("--price", "N", "Of a GPU-hour, such as 2.30.")]
OwnLayout = Annotated[bool, typer.Option("--own-layout", help="Keep the scenario's layout, look for none.")]
Fit = Annotated[Path | None, typer.Option("--fit", metavar="CSV", help="Fit a law to runs: params, tokens, loss.")]
Bootstrap = Annotated[
    int, typer.Option("--bootstrap", metavar="N", min=0, max=10_000, help="Refits for the intervals of --fit.")
]
Observed = Annotated[float | None, _number("--observed", "Loss of your run; is it on track?")]
Phases = Annotated[Path | None, typer.Option("--phases", metavar="YAML", help="Add up a budget of several phases.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Also write JSON, IsoFLOP and contour plots.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw IsoFLOP curves with the plan.")]
