"""Plan what to train for a budget: parameters, tokens, loss, days, dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.cli import _plan_options as option
from simulator.cli._options import Catalogs, Json, Overrides, Runs, Seed

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.studies.plan.planning import Plan


def command(
    scenario: option.Scenario = None,
    flops: option.Flops = None,
    dollars: option.Dollars = None,
    gpu_days: option.GpuDays = None,
    days: option.Days = None,
    params: option.Params = None,
    tokens: option.Tokens = None,
    tokens_per_param: option.Ratio = None,
    loss: option.Loss = None,
    law: option.Law = None,
    unique: option.Unique = None,
    serve: option.Serve = None,
    sparsity: option.Sparsity = 1.0,
    gpu: option.GpuName = None,
    gpus: option.Gpus = None,
    peak: option.Peak = None,
    mfu: option.Mfu = None,
    rate: option.Rate = None,
    factor: option.Factor = 6.0,
    price: option.Price = None,
    own_layout: option.OwnLayout = False,
    fit: option.Fit = None,
    bootstrap: option.Bootstrap = 200,
    observed: option.Observed = None,
    phases: option.Phases = None,
    overrides: Overrides = None,
    catalogs: Catalogs = None,
    runs: Runs = None,
    seed: Seed = None,
    as_json: Json = False,
    plot: option.Plot = None,
    out: option.Out = None,
) -> None:
    """Plan what to train for a budget, by every published scaling law.

    Give one value and the laws say the rest; give two of FLOPs (or dollars,
    GPU-days, days), parameters, tokens, tokens a parameter and loss, and the
    plan is held against each law's optimum. With a scenario the planned model
    is simulated on its cluster in its best layout, failures included; without
    one, --gpu and --mfu (or --rate) are taken as typed in. --fit learns a law
    from your own runs and plans with it.

    Examples:
      foretrain plan --flops 1e24
      foretrain plan tutorial/3-failures --days 60 --set cluster.hosts=256
      foretrain plan --params 8B --tokens 15T --gpu h100 --gpus 1024 --mfu 40%
      foretrain plan --flops 1e23 --serve 10T --unique 500B --out plan/
      foretrain plan --fit runs.csv --flops 1e22
    """
    from simulator.cli import _planner
    from simulator.cli._amounts import amount
    from simulator.cli._streams import show, terminal, warn, working
    from simulator.io.printable import json_text
    from simulator.plots import canvas
    from simulator.report import fitted_law
    from simulator.report import plan as report
    from simulator.studies.plan.laws import DEFAULT
    from simulator.studies.plan.planning import Request, plan
    from simulator.studies.plan.question import Question
    from simulator.studies.plan.record import record
    from simulator.studies.plan.run import Budget

    if plot is not None:
        canvas.check(plot)
    cluster = _planner.cluster(
        _planner.Machine(
            scenario=scenario,
            changes=(*(overrides or ()), *_planner.given(runs=runs, seed=seed)),
            catalogs=tuple(catalogs or ()),
            gpu=gpu,
            gpus=gpus,
            peak=amount("--peak", peak, "FLOP/s"),
            mfu=amount("--mfu", mfu, "share"),
            rate=amount("--rate", rate, "FLOP/s"),
            factor=factor,
            price=amount("--price", price, "$/h"),
            search=not own_layout,
        )
    )
    if phases is not None:
        _planner.phases(phases, cluster, as_json=as_json)
        return
    cluster, price_found = _planner.priced(cluster, amount("--dollars", dollars, "$"), _planner.days(days))
    question = Question(
        flops=amount("--flops", flops, "FLOP"),
        parameters=amount("--params", params, "count"),
        tokens=amount("--tokens", tokens, "count"),
        ratio=tokens_per_param,
        loss=loss,
    )
    budgets = [
        Budget(dollars=amount("--dollars", dollars, "$")),
        Budget(hours=amount("--gpu-days", gpu_days, "number", 24.0)),
        Budget(days=_planner.days(days)),
    ]
    given = tuple(budget for budget in budgets if budget != Budget())
    fitted = _planner.fitted(fit, bootstrap, seed or 0, as_json) if fit is not None else None
    if fitted is not None and not question.given and not given:
        show(fitted.text)
        return
    request = Request(
        question=question,
        budgets=given,
        law=law or DEFAULT,
        cluster=cluster,
        unique=amount("--unique", unique, "count"),
        served=amount("--serve", serve, "count"),
        sparsity=sparsity,
        own=None if fitted is None or law is not None else fitted.law,
    )
    with working("Planning"):
        found = plan(request)
    warn(found.warnings)
    document = record(found) | price_found | _planner.extras(found, fitted, observed)
    show(json_text(document) if as_json else report.write(found, terminal(), fitted_law.below(document)))
    if plot is not None or out is not None:
        _draw(found, plot, out, json_text(document))


def _draw(found: Plan, plot: Path | None, out: Path | None, document: str) -> None:
    from functools import partial

    import yaml

    from simulator.errors import InfeasibleError
    from simulator.io.writing import fill
    from simulator.plots import canvas, isoflop, loss_contour

    if found.law.loss(found.choice) is None:
        raise InfeasibleError(f"{found.law.kind}: a law without a loss has no curves; take another with --law")
    if plot is not None:
        canvas.save(lambda drawing: isoflop.draw(found.law, found.choice, drawing), plot)
    if out is not None:
        fill(out, "plan.json", document)
        if found.run is not None and "scenario" in found.run.details:
            fill(out, "scenario.yaml", yaml.safe_dump(found.run.details["scenario"], sort_keys=False))
        for picture, draw in (("isoflop", isoflop.draw), ("contour", loss_contour.draw)):
            for name, content in canvas.files(partial(draw, found.law, found.choice), picture):
                fill(out, name, content)
