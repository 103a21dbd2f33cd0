"""From the flags of `forethought debug` to what is debugged and how. Whatever cannot work is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forethought.app.errors import CliError
from forethought.app.options import Flags, parse_set, wrong_setting
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext


@dataclass(frozen=True)
class Asked:
    """The flags of the command, as they were given."""

    thread: str | None = None
    trajectory: Path | None = None
    pick: str | None = None
    score: bool = False
    expect: str | None = None
    rerun: str | None = None
    method: str | None = None
    judge: str | None = None
    max_reruns: int | None = None
    environment: str | None = None
    allow_writes: bool = False


def check_asked(asked: Asked) -> None:
    """Raises CliError for flags that do not go together."""
    if asked.thread is None and asked.trajectory is None:
        raise CliError("name what is to be debugged: a THREAD, or --trajectory FILE")
    if asked.thread is not None and asked.trajectory is not None:
        raise CliError("a THREAD and --trajectory cannot go together: give one of them")
    if asked.trajectory is None:
        for flag, given in (("--pick", asked.pick), ("--environment", asked.environment)):
            if given is not None:
                raise CliError(f"{flag} goes with --trajectory; a thread is run again in its own checkpoints")
        if asked.score:
            raise CliError("--score goes with --trajectory: a file or folder of annotated trajectories")
    if asked.expect is not None and not asked.expect.strip():
        raise CliError("--expect is empty: give the answer of a right run, or leave it out")
    if asked.score and (asked.rerun or asked.pick or asked.environment or asked.judge or asked.expect):
        raise CliError(
            "--score measures against annotations: --rerun, --pick, --expect, --judge and --environment "
            "do not go with it"
        )


def debugger_context(
    asked: Asked, flags: Flags, settings: Settings, model: str | None = None, has_gold: bool = False
) -> DebuggerContext:
    """The Context of the debugging; `model` is the one that the debugged thread was run with, and `has_gold`
    whether the trajectory's file knows the right answer.

    Raises CliError that names the flag that is wrong.
    """
    chosen = flags.model or model or settings.model
    values: dict[str, Any] = {"model": chosen} if chosen else {}
    values |= dict(parse_set(item, DebuggerContext) for item in flags.sets)
    for name in ("rerun", "method", "judge", "max_reruns"):
        if (given := getattr(asked, name)) is not None:
            values[name] = given
    values.setdefault("judge", _usual_judge(asked, has_gold))
    try:
        return DebuggerContext.model_validate(values)
    except ValidationError as error:
        raise CliError(wrong_setting(error, flags)) from error


def changed_context(kept: Mapping[str, Any], flags: Flags) -> DebuggerContext:
    """The Context that a debugging was begun with, changed by the flags of `resume`. Raises CliError."""
    # A field of another release is dropped, as it is for a thread of the agent's.
    values = {key: value for key, value in kept.items() if key in DebuggerContext.model_fields}
    if flags.model:
        values["model"] = flags.model
    values |= dict(parse_set(item, DebuggerContext) for item in flags.sets)
    try:
        return DebuggerContext.model_validate(values)
    except ValidationError as error:
        raise CliError(wrong_setting(error, flags)) from error


def _usual_judge(asked: Asked, has_gold: bool) -> str:
    """Who judges where nobody is named: who can."""
    if asked.environment and asked.expect is None:
        return "environment"
    return "gold" if has_gold or asked.expect is not None else "none"


def check_judged(asked: Asked, context: DebuggerContext, has_gold: bool = False) -> None:
    """Raises CliError when a re-run could not be made or nobody could judge it."""
    if context.judge in {"gold", "model"} and asked.expect is None and not has_gold:
        raise CliError(f"--judge {context.judge} needs the answer of a right run: give it with --expect TEXT")
    if context.judge == "environment" and not asked.environment:
        raise CliError("--judge environment needs --environment MODULE:NAME, whose reward it is")
    runs_again = context.rerun != "off" or context.method == "counterfactual"
    what = "--rerun" if context.rerun != "off" else f"--method {context.method}"
    if runs_again and asked.trajectory is not None and not asked.environment:
        raise CliError(
            f"{what}: a trajectory's file cannot be run again by itself; give the world it ran in with "
            "--environment MODULE:NAME"
        )
    counts = context.method == "counterfactual" and context.rerun in {"off", "agentdebug"}
    if counts and context.judge == "person":
        raise CliError("--method counterfactual judges too many runs for a person: choose another --judge")
    if runs_again and context.judge == "none":
        raise CliError(
            f"{what}: somebody has to say whether a re-run succeeded, and never the run itself: give the "
            f"answer of a right run with --expect TEXT{'' if counts else ', or --judge person'}"
        )


def check_scored(context: DebuggerContext) -> None:
    """Raises CliError for what runs trajectories again: those that are measured are only read."""
    if context.rerun != "off" or context.method == "counterfactual":
        what = "counterfactual mode" if context.rerun == "off" else "a re-run"
        raise CliError(f"--score reads trajectories and runs none again: {what} does not go with it")
