"""From the flags of `eval run` to what is evaluated, checked before anything is asked of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from forethought.app.errors import CliError
from forethought.app.eval.extra import need_evals
from forethought.app.eval.state import Asked
from forethought.app.options import Flags, context_from_flags, parse_set, settings_from
from forethought.app.text import one_line
from forethought.evals import registry
from forethought.evals.harness.choices import (
    Choices,
    checked,
    checked_methods,
    chosen,
    options_from,
    training_samples,
)
from forethought.evals.methods.ours import Ours
from forethought.evals.types import Benchmark, Budget, Method, Sample
from forethought.models import Models
from forethought.nodes.support.task import models_used
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context

_BUDGET = {"max_steps": "--steps", "max_tokens": "--tokens"}


def choose(asked: Asked, flags: Flags) -> tuple[Settings, Choices]:
    """The settings, and what is to be evaluated. Reads the benchmark's data. Raises CliError."""
    need_evals()
    settings = settings_from(flags)
    try:
        context = bounded(context_from_flags(flags, settings), settings)
        benchmark = _imported(asked.benchmark)
        methods = checked_methods([registry.method(name) for name in dict.fromkeys(asked.methods)])
        samples, training = _samples(asked, benchmark, methods, settings)
        choices = Choices(
            benchmark=benchmark,
            methods=methods,
            samples=samples,
            training=training,
            options=options_from(asked.options, benchmark),
            trials=asked.trials,
            limit=None if asked.samples else asked.limit,
            seed=asked.seed,
            model=context.model,
            judge_model=asked.judge_model or context.model,
            user_model=asked.user_model or context.model,
            budget=_budget(asked, benchmark, settings, any(isinstance(one, Ours) for one in methods)),
            seconds=asked.seconds,
            context=_of_ours(flags),
            scripted=asked.scripted,
        )
        _check_models(choices, context, settings, asked)
    except (ValueError, ImportError) as error:
        raise CliError(one_line(error, 1000)) from error
    return settings, choices


def _budget(asked: Asked, benchmark: Benchmark, settings: Settings, ours: bool) -> Budget:
    """What one sample may cost. Raises CliError for more steps than our agent takes, if `ours`."""
    steps = asked.steps if asked.steps is not None else int(getattr(benchmark, "steps", Budget.max_steps))
    if ours:
        try:
            Context(max_steps=steps)
        except ValidationError as error:
            raise CliError(f"--steps {steps}: our agent does not take that many; give fewer") from error
    return Budget(steps, min(asked.tokens, settings.max_tokens or asked.tokens))


def _imported(name: str) -> Benchmark:
    try:
        return registry.benchmark(name)
    except ImportError as error:
        raise CliError(f"benchmark {name}: {one_line(error, 500)}") from error


def _samples(
    asked: Asked, benchmark: Benchmark, methods: tuple[Method, ...], settings: Settings
) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Those to evaluate, and those to learn from where a method does. Raises ValueError, DataError among
    them."""
    data = asked.data or settings.benchmarks_dir / benchmark.name
    options = options_from(asked.options, benchmark)
    samples = checked(benchmark.samples(data, options), benchmark.name)
    evaluated = chosen(samples, asked.limit, asked.samples, asked.seed)
    if not any(method.needs_training for method in methods):
        return evaluated, ()
    if asked.train_options:
        other = options | options_from(asked.train_options, benchmark, "--train-option")
        samples = checked(benchmark.samples(data, other), benchmark.name)
    return evaluated, training_samples(samples, evaluated, asked.train, asked.seed)


def _of_ours(flags: Flags) -> Mapping[str, Any]:
    """What `--set` chooses for our agent, as plain JSON. Raises CliError."""
    given = dict(parse_set(item) for item in flags.sets)
    for name in given:
        if name in _BUDGET:
            raise CliError(f"--set {name}: every method has the same budget; use {_BUDGET[name]}")
        if name == "model":
            raise CliError("--set model: every method asks the same model; use --model")
    whole = Context.model_validate(given).model_dump(mode="json")
    return {name: whole[name] for name in given}


def _check_models(choices: Choices, context: Context, settings: Settings, asked: Asked) -> None:
    """Raises ConfigurationError, and CliError for a cap that could not be kept."""
    if asked.max_usd == 0:
        raise CliError("--max-usd 0: nothing could be run; give more, or leave it out for no cap")
    models = Models(settings)
    names = dict.fromkeys([*models_used(context), choices.judge_model, choices.user_model])
    models.verify(names)
    if asked.max_usd is not None and (unpriced := [name for name in names if not models.priced(name)]):
        raise CliError(f"--max-usd: no price is known for {unpriced[0]}; use --max-tokens-total")
