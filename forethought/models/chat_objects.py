"""Chat models that are given as objects: the names by which a run knows them, and what they say of
themselves."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from forethought.settings import Settings

_RETRIES = 2
"""For what providers' packages do not try again, as on a connection of an event loop that has ended."""


@dataclass(frozen=True)
class ChatObjects:
    """The objects by name, and the names by the field of a Context that names a model."""

    by_name: Mapping[str, BaseChatModel]
    by_field: Mapping[str, str]

    @classmethod
    def of(cls, model: Any, models: Mapping[str, Any], roles: Collection[str]) -> ChatObjects:
        """`model` for every role and `models` by role. Raises ValueError for what is no role or no object.

        A name is class and model, as ChatOpenAI:gpt-4.1, numbered where two are alike. No provider's name
        begins with a capital, so none is taken for one of these.
        """
        if unknown := sorted(set(models) - set(roles)):
            raise ValueError(f"models: there is no role {unknown[0]}: choose one of {', '.join(roles)}")
        given = {"model": model} if model is not None else {}
        by_name: dict[str, BaseChatModel] = {}
        by_field: dict[str, str] = {}
        for field, chat in (given | {f"{role}_model": chat for role, chat in models.items()}).items():
            _check(field, chat)
            known = next((name for name, other in by_name.items() if other is chat), None)
            by_field[field] = known or _name(chat, by_name)
            by_name[by_field[field]] = chat
        return cls(by_name, by_field)

    def settings(self, settings: Settings) -> Settings:
        """The settings with which these are asked: they retry most by themselves, and the operator's names
        are not for them."""
        few = min(settings.request_retries, _RETRIES)
        changes = {"request_retries": few, "allowed_models": ()} if self.by_name else {}
        return settings.model_copy(update=changes)


def identity(chat: BaseChatModel) -> tuple[str, str, str | None]:
    """Provider, model and address (None: the provider's own) of a chat model, by which its price is found."""
    said: Any = chat._get_ls_params()  # what every package tells LangSmith; nothing public says it
    address = getattr(chat, "openai_api_base", None)
    return said.get("ls_provider", ""), said.get("ls_model_name", ""), address


def _check(field: str, chat: Any) -> None:
    from langchain_core.language_models import BaseChatModel

    if not isinstance(chat, BaseChatModel):
        raise ValueError(
            f"{field} is a {type(chat).__name__}: pass a LangChain chat model (BaseChatModel), or "
            f'name one in the run\'s Context({field}="provider:name")'
        )


def _name(chat: BaseChatModel, taken: Collection[str]) -> str:
    parts = filter(None, (type(chat).__name__, identity(chat)[1]))
    name = re.sub(r"[^A-Za-z0-9_.:/@+-]", "_", ":".join(parts))
    alike = sum(other.partition("@")[0] == name for other in taken)
    return f"{name}@{alike + 1}" if alike else name
