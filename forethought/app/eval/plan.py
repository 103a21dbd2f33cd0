"""From the flags of `eval run` to what is evaluated, checked before anything is asked of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from forethought.app.errors import CliError
from forethought.app.eval.commands import EvalOptions, RunningOptions
from forethought.app.options import context_of, parse_set, settings_from
from forethought.app.text import one_line
from forethought.evals import registry
from forethought.evals.baselines.learning import SYNTHESIS_SETTINGS
from forethought.evals.harness.plan import (
    EvaluationPlan,
    check_methods,
    check_samples,
    parse_options,
    select_samples,
    training_samples,
)
from forethought.evals.methods.ours import Ours
from forethought.evals.types import Benchmark, Budget, Method, Sample
from forethought.models import Models
from forethought.settings import Settings
from forethought.state.context import Context, models_of
from forethought.state.synthesizer import SynthesizerContext

_BUDGET = {"max_steps": "--steps", "max_tokens": "--tokens"}


def plan_evaluation(options: EvalOptions) -> tuple[Settings, EvaluationPlan]:
    """The settings, and what is to be evaluated. Reads the benchmark's data. Raises CliError."""
    settings = settings_from(options)
    try:
        learning = [
            item for item in options.sets or () if item.partition("=")[0].strip() in SYNTHESIS_SETTINGS
        ]
        own = [item for item in options.sets or () if item not in learning]
        context = context_of(Context, options.model_copy(update={"sets": own}), settings)
        benchmark = _imported(options)
        methods = check_methods([registry.method(name) for name in options.methods])
        _check_followed(methods)
        samples, training = _samples(options, benchmark, methods, settings)
        plan = EvaluationPlan(
            benchmark=benchmark,
            methods=methods,
            samples=samples,
            training=training,
            options=parse_options(options.option or (), benchmark),
            trials=options.trials,
            limit=None if options.samples else options.limit,
            seed=options.seed,
            model=context.model,
            judge_model=options.judge_model or context.model,
            user_model=options.user_model or context.model,
            budget=_budget(options, benchmark, settings, any(isinstance(one, Ours) for one in methods)),
            seconds=options.seconds,
            context={**_chosen(own, Context), **_chosen(learning, SynthesizerContext)},
            scripted=options.scripted,
        )
        check_models(plan, context, settings, options)
    except (ValueError, ImportError) as error:
        raise CliError(one_line(error, 1000)) from error
    return settings, plan


def _check_followed(methods: tuple[Method, ...]) -> None:
    """Raises CliError for a method without the one that it follows."""
    names = {method.name for method in methods}
    for method in methods:
        if method.follows and method.follows not in names:
            raise CliError(
                f"{method.name} re-runs failed tries of {method.follows}: name both, "
                f"--method {method.follows},{method.name}"
            )


def _budget(options: EvalOptions, benchmark: Benchmark, settings: Settings, ours: bool) -> Budget:
    """What one sample may cost. Raises CliError for more steps than our agent takes, if `ours`."""
    steps = options.steps if options.steps is not None else benchmark.steps
    if ours:
        try:
            Context(max_steps=steps)
        except ValidationError as error:
            raise CliError(f"--steps {steps} is more than the agent allows: use a smaller number") from error
    tokens = options.tokens if options.tokens is not None else benchmark.tokens
    return Budget(steps, min(tokens, settings.max_tokens or tokens), options.tries)


def _imported(options: EvalOptions) -> Benchmark:
    try:
        return registry.benchmark(options.name, options.checkers or ())
    except ImportError as error:
        raise CliError(f"benchmark {options.name}: {one_line(error, 500)}") from error


def _samples(
    options: EvalOptions, benchmark: Benchmark, methods: tuple[Method, ...], settings: Settings
) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Those to evaluate, and those to learn from where a method does. Raises ValueError."""
    data = options.data or settings.benchmarks_dir / benchmark.name
    chosen = parse_options(options.option or (), benchmark)
    samples = check_samples(benchmark.samples(data, chosen), benchmark.name)
    evaluated = select_samples(samples, options.limit, options.samples, options.seed)
    if not any(method.needs_training for method in methods):
        return evaluated, ()
    if options.train_option:
        other = chosen | parse_options(options.train_option, benchmark, "--train-option")
        samples = check_samples(benchmark.samples(data, other), benchmark.name)
    return evaluated, training_samples(samples, evaluated, options.train, options.seed)


def _chosen(sets: Sequence[str], of: type[BaseModel]) -> Mapping[str, Any]:
    """What `--set` chooses of a context, as plain JSON. Raises CliError."""
    chosen = dict(parse_set(item, of) for item in sets)
    for name in chosen:
        if name in _BUDGET:
            raise CliError(f"--set {name}: every method has the same budget; use {_BUDGET[name]}")
        if name == "model":
            raise CliError("--set model: every method asks the same model; use --model")
    return of.model_validate(chosen).model_dump(mode="json", include=set(chosen))


def check_models(plan: EvaluationPlan, context: Context, settings: Settings, options: RunningOptions) -> None:
    """Raises ConfigurationError, and CliError for a cap that could not be kept."""
    if options.max_usd == 0:
        raise CliError("--max-usd 0 allows no run: raise it, or leave it out for no cap")
    models = Models(settings)
    names = dict.fromkeys([*models_of(context), plan.judge_model, plan.user_model])
    models.verify(names)
    if options.max_usd is not None and (unpriced := [name for name in names if not models.priced(name)]):
        raise CliError(f"--max-usd: no price is known for {unpriced[0]}; use --max-tokens-total")
