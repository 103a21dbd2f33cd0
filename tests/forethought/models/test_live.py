"""A server that is not there is soon told apart from one that is away for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import Message, Models, reply_spec
from forethought.models.types import TransportError
from tests.support.model_server import ModelServer

Serve = Callable[..., tuple[Models, ModelServer]]


class Total(BaseModel):
    total: int


async def ask(models: Models) -> Any:
    spec = reply_spec(Total)
    return await models.ask(role="tool", model="openai:m", messages=[Message("user", "?")], reply=spec)


async def test_a_server_of_this_machine_that_never_answered_is_given_up_after_two_tries(serve: Serve) -> None:
    models, server = serve({"total": 5}, request_retries=50)
    server.close()
    with pytest.raises(TransportError) as raised:
        await ask(models)
    address = server.url.removesuffix("/v1")
    assert f"is Ollama (or the server at {address}) running?" in str(raised.value)


async def test_a_server_that_has_answered_may_be_away(serve: Serve) -> None:
    models, server = serve({"total": 5}, {"total": 6}, request_retries=50)
    await ask(models)
    server.refuse_connections(0.05)
    assert (await ask(models)).reply.total == 6
