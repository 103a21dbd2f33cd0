"""Who answers the model calls of a run: the providers, the providers with a recording, or a recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.errors import CliError
from forethought.redaction import secret_values, without_credentials

if TYPE_CHECKING:
    from forethought.models import Transport
    from forethought.settings import Settings
    from forethought.state.context import Context

Make = Callable[["Settings", "Context"], "Transport | None"]
"""Makes the transport for Settings and Context, after checking models and keys; None: the providers."""


@dataclass(frozen=True)
class Answering:
    """Who answers, and what a recording says of the run that it was made of."""

    make: Make
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def context(self) -> Mapping[str, Any] | None:
        """The Context that the recorded run had: with another one the prompts would differ."""
        found = self.header.get("context")
        return found if isinstance(found, Mapping) else None


def choose_transport(record: Path | None, replay: Path | None, about: Mapping[str, Any]) -> Answering:
    """The choice for --record and --replay; `about` describes the run in a recording's header.

    Raises CliError when both are asked for, or the recording cannot be read.
    """
    if record and replay:
        raise CliError("--record and --replay cannot go together: a replay has nothing new to record")
    if replay:
        from forethought.models import ReplayError, ReplayTransport

        try:
            served = ReplayTransport(replay)
        except ReplayError as error:
            raise CliError(str(error)) from error
        return Answering(lambda settings, context: served, served.header)
    return Answering(_recording(record, about) if record else _live)


def asked_how(context: Context, settings: Settings) -> str:
    """Where the thread's models are asked and with which key (its variable's name), and how to change it."""
    from forethought.models.providers import KEYS, split
    from forethought.state.bounds import models_of

    if settings.base_url:
        key = "FORETHOUGHT_API_KEY" + ("" if settings.api_key else " (not set)")
        where = f"at {without_credentials(settings.base_url)} with the key of {key}"
    else:
        providers = {split(model, None)[0] for model in models_of(context)}
        names = " or ".join(sorted(name for provider in providers for name in KEYS[provider]))
        where = "at the provider's address" + (f" with the key of {names}" if names else "")
    return f"asked {where}; the thread keeps its model: `resume` takes --model and --base-url for others"


def _live(settings: Settings, context: Context) -> None:
    _verify(settings, context, None)


def _recording(path: Path, about: Mapping[str, Any]) -> Make:
    def make(settings: Settings, context: Context) -> Transport:
        from forethought.models import RecordingTransport
        from forethought.models.live import LiveTransport

        live = LiveTransport(settings)
        _verify(settings, context, live)
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise CliError(f"--record {path}: its folder does not exist or cannot be written to")
        header = {**about, "model": context.model, "context": context.model_dump(mode="json")}
        return RecordingTransport(live, path, header, tuple(secret_values(settings)))

    return make


def _verify(settings: Settings, context: Context, transport: Transport | None) -> None:
    """Before the first call: each model is known and its key is there. Raises ConfigurationError."""
    from forethought.models import Models
    from forethought.state.bounds import models_of

    Models(settings, transport).verify(models_of(context))
