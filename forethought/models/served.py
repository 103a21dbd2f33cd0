"""The models that an OpenAI-compatible server offers."""

from __future__ import annotations

from forethought.models.providers import account
from forethought.settings import Settings

_TIMEOUT_S = 5.0


def served_models(settings: Settings) -> list[str]:
    """The names that the server at `settings.base_url` lists; none where it lists none, or is not there."""
    import openai

    try:
        with openai.OpenAI(**account(settings), timeout=_TIMEOUT_S, max_retries=0) as client:
            return sorted(model.id for model in client.models.list())
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        return []  # what is wrong with it is told when a model is asked
