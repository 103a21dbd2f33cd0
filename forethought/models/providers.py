"""Names of providers, the keys they need, and the chat model built for one.

With `Settings.base_url` every model is asked there, in OpenAI's protocol, and no key but `Settings.api_key`
is sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from forethought.models.types import ConfigurationError
from forethought.settings import Settings, sendable_key

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

NO_KEY = "not-needed"
"""Sent where an address wants some key and the operator set none."""

_NO_ACCOUNT = {"OpenAI-Organization": "", "OpenAI-Project": ""}
"""Keeps the OpenAI account named in the environment from an address that is not OpenAI's."""

KEYS: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azure_openai": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
    "bedrock": (),
    "bedrock_converse": (),
    "cohere": ("COHERE_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "google_vertexai": (),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"),
    "mistralai": ("MISTRAL_API_KEY",),
    "nvidia": ("NVIDIA_API_KEY",),
    "ollama": (),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "perplexity": ("PERPLEXITY_API_KEY", "PPLX_API_KEY"),
    "together": ("TOGETHER_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
"""Provider -> the environment variables of which one must be set."""


def split(model: str, base_url: str | None) -> tuple[str, str]:
    """Provider and name of `model`, which is written provider:name. Raises ConfigurationError."""
    prefix, colon, rest = model.partition(":")
    if base_url:
        return "openai", rest if colon and rest and prefix in KEYS else model
    if colon and prefix in KEYS and rest:
        return prefix, rest
    raise ConfigurationError(
        f"model {model}: unknown provider; write provider:name with one of {', '.join(sorted(KEYS))}, "
        "or give the address of an OpenAI-compatible endpoint (--base-url)"
    )


def check_key(model: str, settings: Settings) -> None:
    """Raises ConfigurationError, naming the variable, when the key of `model` is not set or cannot be one."""
    provider, _ = split(model, settings.base_url)
    names = () if settings.base_url or _vertex(provider) else KEYS[provider]
    if names and not keys_set(names):
        raise ConfigurationError(
            f"model {model} needs a key: set {' or '.join(names)} in the environment, or save it for "
            f"the command line with: forethought config set {names[0]}; "
            "for your own server, set FORETHOUGHT_BASE_URL"
        )


def keys_set(names: Iterable[str]) -> list[str]:
    """Which of these variables hold a key.

    White space around one is taken off in the environment itself, from where the providers' packages read it.
    Raises ConfigurationError, which does not repeat the key, where a variable holds what cannot be one.
    """
    present = []
    for name in names:
        value = os.environ.get(name, "")
        try:
            key = sendable_key(value)
        except ValueError as error:
            raise ConfigurationError(f"{name} {error}") from None
        if key != value:
            os.environ[name] = key
        if key:
            present.append(name)
    return present


def _vertex(provider: str) -> bool:
    wanted = os.environ.get("GOOGLE_GENAI_USE_VERTEXAI", "").lower()
    return provider == "google_genai" and wanted in ("1", "true", "yes")


def build(model: str, settings: Settings, http_client: Any = None) -> BaseChatModel:
    """The chat model, without retries of its own and without streaming. Raises ConfigurationError.

    `http_client` carries the requests of an OpenAI client (see `forethought.models.http_client`).
    """
    from langchain.chat_models import init_chat_model

    provider, name = split(model, settings.base_url)
    options: dict[str, Any] = {
        "max_retries": 0,
        "timeout": settings.request_timeout_s,
        "disable_streaming": True,
    }
    if provider == "openai":
        options |= {"use_responses_api": False, "http_async_client": http_client}
    options |= account(settings)
    try:
        chat: Any = init_chat_model(name, model_provider=provider, **options)
    except ImportError as error:
        raise ConfigurationError(f"model {model}: {error}") from error
    except ValueError as error:
        raise ConfigurationError(f"model {model} cannot be set up: {error}") from error
    if provider in ("openai", "azure_openai"):  # other packages' subclasses may rest on the SDK's own
        from forethought.models.completions import PlainCompletions

        chat.async_client = PlainCompletions(chat.root_async_client)
    built: BaseChatModel = chat
    return built


def account(settings: Settings) -> dict[str, Any]:
    """The address, key and headers of an OpenAI client: none (the environment's) unless `base_url` is set."""
    if not settings.base_url:
        return {}
    key = settings.api_key.get_secret_value() if settings.api_key else NO_KEY
    return {"base_url": settings.base_url, "api_key": key, "default_headers": _NO_ACCOUNT}
