"""Access to a LangGraph server: each user sees and changes only their own threads, runs and advice.

langgraph.json names `auth`. What a run may ask for (models, budgets, approval) is bounded by the settings,
whoever asks (forethought/state/context.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_sdk import Auth

from forethought.experience.book import namespace_of
from forethought.graph.client_writes import UpdateError, check_run
from forethought.server.access import NoAccess, header_texts, identity
from forethought.settings import Settings, read_settings


def _settings() -> Settings:
    """Read as the server starts: one that is wrong ends it with a line, and no client is told of it."""
    try:
        return read_settings()
    except ValueError as error:
        raise SystemExit(f"forethought: {error}") from None


SETTINGS = _settings()
OWNER = "owner"
"""The key of metadata under which a thread, run, cron or assistant has its user."""
OF_THE_SERVER = {"created_by": "system"}
"""Metadata of the assistants that the server makes of the graphs in langgraph.json: of no others, since a
server lets everybody run what is marked so."""
OF_A_USER = {"created_by": "user"}

auth = Auth()


@auth.authenticate
async def authenticate(
    headers: dict[Any, Any], scope: dict[str, Any] | None = None
) -> Auth.types.MinimalUserDict:
    """The client's user. Raises HTTPException 401.

    LangGraph's server gives headers as bytes, and the scope with the client's address; aegra gives headers as
    text and nothing else, so that there a token is always needed.
    """
    texts = header_texts(headers)
    client = (scope or {}).get("client")
    key = texts.get("x-api-key")  # what LangGraph's clients send as their `api_key`
    given = texts.get("authorization") or (f"Bearer {key}" if key else None)
    try:
        name = identity(SETTINGS, given, client[0] if client else None, texts)
    except NoAccess as error:
        raise Auth.exceptions.HTTPException(
            status_code=401, detail=str(error), headers={"WWW-Authenticate": "Bearer"}
        ) from error
    return {"identity": name, "display_name": name, "is_authenticated": True}


@auth.on
async def own_only(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Auth.types.FilterType:
    """Threads, runs and crons: written under the user's name, whatever the client says, and read under it.

    What a run is given is checked before it is queued; what is written to a thread, by the graph itself.
    """
    run = value.get("kwargs") or value.get("payload") or {}
    try:
        check_run(run.get("input"), run.get("command"))
    except UpdateError as error:
        raise Auth.exceptions.HTTPException(status_code=422, detail=str(error)) from error
    return _owned(ctx, value)


@auth.on.assistants
async def assistants(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Auth.types.FilterType:
    """The server's own assistants may be read and run by all, changed by nobody; others are their owner's."""
    own = _owned(ctx, value, OF_A_USER)
    if ctx.action in ("read", "search"):
        return {"$or": [own, OF_THE_SERVER]}  # type: ignore[return-value]
    return own


@auth.on.store
async def store(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool:
    """Only what lies under the user's own namespace, experience/USER."""
    own = namespace_of(ctx.user.identity, "")[:-1]
    named = tuple(value.get("namespace") or value.get("prefix") or ())
    return named[: len(own)] == own


def _owned(
    ctx: Auth.types.AuthContext, value: dict[str, Any], written: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The filter for what is the user's; what is written is marked as theirs, and with `written`."""
    own = {OWNER: ctx.user.identity}
    if ctx.action not in ("read", "search", "delete"):
        # In place: the server goes on with the dict that it gave, where it gave one.
        if value.get("metadata") is None:
            value["metadata"] = {}
        value["metadata"].update({**own, **(written or {})})
    return own
