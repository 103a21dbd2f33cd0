"""Models on this machine, named `local:PATH`, for the retrospective role: trained as SAMULE 3.2.2 has it.

PATH lies in the operator's folder of models (`Settings.models_dir`), so that a server's client can name no
other. Such a model writes plain text, which is taken as the reflection. It is loaded at its first call, once,
and only if it has passed the gate (or `Settings.allow_ungated_models`).
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.extras import install_command
from forethought.models.types import ConfigurationError, ModelReply, ModelRequest, TransportError
from forethought.settings import Settings
from forethought.training.errors import TrainingError
from forethought.training.gate import check_adopted

if TYPE_CHECKING:
    from forethought.training.serve import LocalModel, Reflected

_PREFIX = "local:"
_REPLY = "RoundReflection"
_NEEDED = ("torch", "transformers", "peft")


class LocalModels:
    """The models of `Settings.models_dir`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._loaded: dict[str, LocalModel] = {}
        self._loading = threading.Lock()

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the model is not there, is not adopted, or the extra is missing."""
        self._path(model)
        missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise ConfigurationError(
                f"model {model}: {missing[0]} is not installed: {install_command('train')}"
            )

    async def send(self, request: ModelRequest) -> ModelReply:
        """The model's reflection, as the JSON that was asked for; it costs no dollars.

        Raises ConfigurationError where it cannot be loaded or is asked for something else, TransportError
        where generating fails.
        """
        if request.reply != _REPLY:
            raise ConfigurationError(
                f"model {request.model} writes reflections only: name it as retrospective_model, and another "
                "model for the other roles"
            )
        written = await asyncio.to_thread(self._reflect, request)
        return ModelReply(
            text=json.dumps({"reflection": _reflection(written)}, ensure_ascii=False),
            input_tokens=written.input_tokens,
            output_tokens=written.output_tokens,
            model=request.model,
            usd=0.0,
        )

    def _reflect(self, request: ModelRequest) -> Reflected:
        messages = [{"role": message.role, "content": message.text} for message in request.messages]
        model = self._load(request.model)
        try:
            return model.reflect(messages, self.settings.request_timeout_s)
        except (TrainingError, RuntimeError) as error:  # torch's own errors are RuntimeErrors
            raise TransportError(f"model {request.model}: {str(error)[:300]}") from error

    def _load(self, name: str) -> LocalModel:
        from forethought.training.serve import LocalModel

        with self._loading:
            if name not in self._loaded:
                try:
                    self._loaded[name] = LocalModel(self._path(name))
                except TrainingError as error:
                    raise ConfigurationError(f"model {name}: {error}") from error
            return self._loaded[name]

    def _path(self, name: str) -> Path:
        """The folder of an adopted model, in the operator's. Raises ConfigurationError."""
        folder = self.settings.local_models_dir.resolve()
        path = (folder / name.removeprefix(_PREFIX)).resolve()
        if path == folder or not path.is_relative_to(folder):
            raise ConfigurationError(
                f"model {name} is not in the models folder {folder}: move it there, or set "
                "FORETHOUGHT_MODELS_DIR to its folder"
            )
        if not any((path / name).is_file() for name in ("adapter_config.json", "config.json")):
            raise ConfigurationError(f"model {name}: there is no model in {path}; check the name")
        try:
            if not self.settings.allow_ungated_models:
                check_adopted(path)
        except TrainingError as error:
            raise ConfigurationError(
                f"model {name}: {error}; test it with `forethought train gate`, or set "
                "FORETHOUGHT_ALLOW_UNGATED_MODELS=true to use it without"
            ) from error
        return path


def _reflection(written: Reflected) -> str:
    """The text; where tokens or time ran out, to its last whole sentence: asking again brings no other."""
    if written.whole or not written.text:
        return written.text
    ends = [match.end() for match in re.finditer(r"[.!?](?=\s|$)", written.text)]
    return written.text[: ends[-1]] if ends else f"{written.text} [...]"
