"""Questions to a LangChain chat model that somebody else has made, with its own retries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel

from forethought.models.errors import describe
from forethought.models.methods import in_prompt, langchain_messages
from forethought.models.provider_reply import model_reply
from forethought.models.providers import KEYS
from forethought.models.types import ModelReply, ModelRequest, TransportError
from forethought.settings import MODEL_NAME


@dataclass(frozen=True)
class ChatTransport:
    """Carries requests to `chat`, the wanted shape written in the prompt, which every model takes."""

    chat: BaseChatModel
    blocking: bool = False
    """Whether it is asked by `invoke`: its async clients may belong to another event loop."""
    config: Any = field(default_factory=dict)
    """A RunnableConfig: tags and metadata of the calls."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """The model's reply. Raises TransportError."""
        messages = langchain_messages(in_prompt(request))
        try:
            if self.blocking:
                raw: Any = self.chat.invoke(messages, self.config)
            else:
                raw = await self.chat.ainvoke(messages, self.config)
        except Exception as error:
            raise TransportError(f"model {request.model}: {describe(error)}") from error
        provider, _, name = request.model.partition(":")
        return model_reply(raw, request, provider, name, getattr(self.chat, "openai_api_base", None))


def name_of(chat: BaseChatModel) -> str:
    """The model as provider:name; its class's name where it does not tell."""
    told = chat._get_ls_params()
    provider = str(told.get("ls_provider") or "")
    name = f"{provider}:{told.get('ls_model_name')}"
    return name if provider in KEYS and re.fullmatch(MODEL_NAME, name) else f"other:{type(chat).__name__}"
