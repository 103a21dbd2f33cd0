"""Models that are asked otherwise than over the network, by the prefix of their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings


class Backend(Protocol):
    """Carries requests to the models of one prefix; they cost no dollars."""

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the model cannot be used."""
        ...

    async def send(self, request: ModelRequest) -> ModelReply:
        """The model's reply. Raises ConfigurationError and TransportError."""
        ...


_FACTORIES: dict[str, Callable[[Settings], Backend]] = {}


def register_backend(prefix: str, factory: Callable[[Settings], Backend]) -> None:
    """Have models whose names begin with `prefix`, such as `local:`, asked by what `factory` makes."""
    _FACTORIES[prefix] = factory


class Backends:
    """The registered backends for one operator's settings, each made at its first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._made: dict[str, Backend] = {}

    def of(self, model: str) -> Backend | None:
        """The backend of `model`; None where a provider is to be asked."""
        prefix = next((prefix for prefix in _FACTORIES if model.startswith(prefix)), None)
        if prefix is None:
            return None
        if prefix not in self._made:
            self._made[prefix] = _FACTORIES[prefix](self.settings)
        return self._made[prefix]
