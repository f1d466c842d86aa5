"""What is given and what is asked: one or two of FLOPs, parameters, tokens, their ratio and loss fix the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import fields as fields_of

from simulator.errors import InfeasibleError, ScenarioError
from simulator.studies.plan.laws.base import FLOPS_PER_PARAMETER, HIGHEST, LOWEST, Choice, Law, solve
from simulator.units import Flops, Number

NAMES = {
    "flops": "FLOPs",
    "parameters": "parameters",
    "tokens": "tokens",
    "ratio": "tokens a parameter",
    "loss": "a loss",
}


@dataclass(frozen=True, kw_only=True)
class Question:
    flops: Flops | None = None
    parameters: Number | None = None
    tokens: Number | None = None
    ratio: Number | None = None
    """Tokens a parameter."""
    loss: Number | None = None

    @property
    def given(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields_of(self) if getattr(self, field.name) is not None)

    def check(self) -> None:
        """Refuse too little and too much."""
        if not self.given:
            raise ScenarioError(
                "nothing to plan from; give FLOPs, dollars, GPU-days, days, parameters, tokens or a loss"
            )
        if len(self.given) > 2:
            named = ", ".join(NAMES[name] for name in self.given)
            raise ScenarioError(f"{named}: any two of them fix the rest; leave one out")
        for name in self.given:
            if not getattr(self, name) > 0:
                raise ScenarioError(f"{NAMES[name]}: expected more than zero")

    @property
    def at_the_optimum(self) -> bool:
        """Whether one value is given, so that the law chooses the rest."""
        return len(self.given) == 1


def answer(law: Law, question: Question) -> Choice | None:
    """Return what is trained by `law`; None where the law does not say."""
    question.check()
    known = {name: getattr(question, name) for name in question.given}
    if len(known) == 1:
        return _by_optimum(law, *known.popitem())
    if "loss" not in known:
        return _by_product(**known)
    loss = known.pop("loss")
    return _by_loss(law, loss, *known.popitem())


def _by_optimum(law: Law, name: str, value: Number) -> Choice | None:
    """Return the compute-optimal choice that has this one value."""
    if name == "flops":
        return law.optimum(value)
    if law.optimum(1e21) is None:
        return None
    if name == "loss":
        if law.optimal_loss(1e21) is None:
            return None
        budget = solve(lambda flops: -(law.optimal_loss(flops) or 0.0), -value)
    else:
        budget = solve(_of_optimum(law, name), value)
    if budget is None:
        raise InfeasibleError(f"{law.kind}: no budget has its best choice at {NAMES[name]} = {value:.4g}")
    return law.optimum(budget)


def _of_optimum(law: Law, name: str) -> Callable[[Flops], Number]:
    rises = _measure(law, name, 1e24) > _measure(law, name, 1e20)
    if not rises:
        raise ScenarioError(
            f"{law.kind}: {NAMES[name]} of its best choice does not grow with the budget, so that it says no budget; "
            "give FLOPs, parameters or tokens too"
        )
    return lambda flops: _measure(law, name, flops)


def _measure(law: Law, name: str, flops: Flops) -> Number:
    best = law.optimum(flops)
    assert best is not None
    return float(getattr(best, name))


def _by_product(**known: Number) -> Choice:
    """Return the choice that two of FLOPs, parameters, tokens and their ratio leave."""
    flops, parameters, tokens, ratio = (known.get(name) for name in ("flops", "parameters", "tokens", "ratio"))
    if ratio is not None:
        if flops is not None:
            parameters = (flops / (FLOPS_PER_PARAMETER * ratio)) ** 0.5
        elif tokens is not None:
            parameters = tokens / ratio
        assert parameters is not None
        return Choice(parameters, ratio * parameters)
    if parameters is None:
        assert flops is not None
        assert tokens is not None
        return Choice(flops / (FLOPS_PER_PARAMETER * tokens), tokens)
    if tokens is None:
        assert flops is not None
        return Choice(parameters, flops / (FLOPS_PER_PARAMETER * parameters))
    return Choice(parameters, tokens)


def _by_loss(law: Law, loss: Number, name: str, value: Number) -> Choice | None:
    """Return the smallest change of the free one that reaches `loss`."""
    options: dict[str, Callable[[Number], Choice]] = {
        "parameters": lambda free: Choice(value, free),
        "tokens": lambda free: Choice(free, value),
        "ratio": lambda free: Choice(free, value * free),
    }
    if name == "flops":
        raise ScenarioError("a budget and a loss contradict each other or say the same; give one of them")
    make = options[name]
    if law.loss(make(1e9)) is None:
        return None
    free = solve(lambda amount: -(law.loss(make(amount)) or 0.0), -loss, 1.0, HIGHEST / LOWEST)
    if free is None:
        raise InfeasibleError(
            f"{law.kind}: a loss of {loss:.4g} is out of reach with {NAMES[name]} = {value:.4g}, whatever the rest"
        )
    return make(free)
