"""The threads of a LangGraph server as one of its users sees them, through its API."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
from langgraph.types import StateSnapshot

from forethought.app.command_flags import Flags
from forethought.app.options import context_of
from forethought.app.report import unfinished
from forethought.app.teach import again, said_of, spoken
from forethought.app.text import one_line
from forethought.app.viewer.readings import reading_progress
from forethought.app.viewer.runs import (
    Json,
    Refused,
    UnknownThread,
    check_answered,
    check_finished,
    refusals,
    replies_to,
)
from forethought.app.viewer.server_records import entry_of, snapshot_of
from forethought.experience.advice import Advice
from forethought.experience.book import MOST, advice_in, namespace_of
from forethought.graph.resume import restart_node
from forethought.redaction import scrubber
from forethought.rollouts.server import ASSISTANT, ServerThread
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.history import ForkError, before_step, fork
from forethought.tools.files import FileStore
from forethought.users import LOCAL_USER, label_of

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient

_PAGE = 1000
"""Most threads that the API lists at a time."""
_CHECKPOINTS = 1000
"""Most checkpoints of which the branches of a thread are made."""
_LISTED = ("progress", "task", "answer", "draft", "usage", "status")
"""Channels that the list of threads is made of."""
_BEGIN_S = 3.0
"""How long a new run is waited for; a busy server's page is empty at first."""
_POLL_S = 0.05


class ServerRuns:
    """See Runs. `client` speaks with the user's own token, so the server's rules of ownership hold."""

    poll_s = 2.0  # of a running thread, the API gives the whole state only

    def __init__(self, client: LangGraphClient, user: str, settings: Settings) -> None:
        self._client, self._user, self._settings = client, user, settings

    @property
    def files(self) -> FileStore:
        """See Threads."""
        store = FileStore.of(self._settings)
        return (
            store
            if self._user == LOCAL_USER
            else replace(store, root=store.root / "users" / label_of(self._user))
        )

    async def threads(self, limit: int) -> list[Json]:
        """See Threads."""
        found: list[Any] = []
        while len(found) < limit:
            page = await self._client.threads.search(
                metadata={"graph_id": ASSISTANT},
                limit=(count := min(limit - len(found), _PAGE)),
                offset=len(found),
                sort_by="updated_at",
                sort_order="desc",
                select=["thread_id", "updated_at", "status", "interrupts"],
                extract={f"its_{name}": f"values.{name}" for name in _LISTED},
            )
            found += page
            if len(page) < count:
                break
        # One that was only made, or whose first run was refused, has nothing to show.
        return [entry_of(row) for row in found if row["status"] == "busy" or row["extracted"]["its_status"]]

    async def snapshot(self, thread_id: str, checkpoint: str = "") -> StateSnapshot:
        """See Threads."""
        named: Any = {"thread_id": thread_id, "checkpoint_id": checkpoint, "checkpoint_ns": ""}
        async with _asked(thread_id):
            state = await self._client.threads.get_state(thread_id, named if checkpoint else None)
        if not state["created_at"] and not await self.is_running(thread_id):
            raise UnknownThread(thread_id)
        return snapshot_of(state)

    async def tree(self, thread_id: str) -> Mapping[str, str | None]:
        """See Threads. Without a fork it is the head alone, since the API gives whole states only."""
        history = self._client.threads.get_history
        async with _asked(thread_id):
            forks = await history(thread_id, limit=1, metadata={"source": "update"})
            states = await history(thread_id, limit=_CHECKPOINTS if forks else 1)
        parents = {str(one["checkpoint"]["checkpoint_id"]): one["parent_checkpoint"] for one in states}
        return {name: parent and str(parent["checkpoint_id"]) for name, parent in parents.items()}

    async def plans(self, thread_id: str, checkpoint: str = "") -> list[Json]:
        """See Threads: those of the head, at rest. The API gives whole states only, so the plans are found by
        halving the steps between two states with different ones."""
        if checkpoint or await self.is_running(thread_id):
            return []
        head = await self.snapshot(thread_id)

        async def between(low: int, high: int, before: Json, after: Json) -> list[Json]:
            is_first = after.get("version", 0) <= 1  # before it are other tasks' plans only
            if is_first or high - low < 2 or _mark_of(before) == _mark_of(after):
                return []
            middle = (low + high) // 2
            plan = await self._plan_at(thread_id, middle)
            older, newer = await asyncio.gather(
                between(low, middle, before, plan), between(middle, high, plan, after)
            )
            return [*older, plan, *newer]

        last = (head.metadata or {}).get("step", 0)
        return [one for one in await between(-1, last, {}, head.values.get("plan") or {}) if one]

    async def _plan_at(self, thread_id: str, step: int) -> Json:
        """The plan after a step of the graph, on the newest branch; {} for none."""
        history = self._client.threads.get_history
        states = await history(thread_id, limit=1, metadata={"step": step})
        return dict(snapshot_of(states[0]).values.get("plan") or {}) if states else {}

    async def debuggings(self, thread_id: str) -> list[str]:
        """See Threads: none, since their ids here say nothing of the thread."""
        return []

    async def is_running(self, thread_id: str) -> bool:
        """See Threads."""
        return bool((await self._row(thread_id))["status"] == "busy")

    async def mark(self, thread_id: str) -> str:
        """See Threads."""
        row = await self._row(thread_id)
        if row["status"] != "busy":
            return str(row["updated_at"])
        state = await self._client.threads.get_state(thread_id)
        told = await asyncio.to_thread(reading_progress, self.files, thread_id)
        return f"{(state['checkpoint'] or {}).get('checkpoint_id')}-running{told}"

    async def experience(self) -> Mapping[str, Sequence[Advice]]:
        """See Threads."""
        own = namespace_of(self._user, "")[:-1]
        found: dict[str, list[Advice]] = {}
        for item in (await self._client.store.search_items(own, limit=MOST))["items"]:
            found.setdefault(item["namespace"][-1], []).extend(advice_in([item["value"]]))
        return dict(sorted(found.items()))

    async def begin(
        self,
        task: str,
        files: Sequence[tuple[str, bytes]] = (),
        settings: Mapping[str, str] | None = None,
        thread_id: str = "",
    ) -> str:
        """See Runs."""
        if thread_id:
            check_finished(await self.snapshot(thread_id))
        context = self._checked(settings or {}) if not thread_id else None
        sent = [{"name": name, "data": base64.b64encode(data).decode()} for name, data in files]
        async with _asked(thread_id):
            name = thread_id or str((await self._client.threads.create(graph_id=ASSISTANT))["thread_id"])
        before = await self.mark(name)
        await self._run(name, context=context, input={"task": task, "files": sent})
        for _ in range(round(_BEGIN_S / _POLL_S)):
            state = await self._client.threads.get_state(name)
            if state["created_at"] and await self.mark(name) != before:
                break
            await asyncio.sleep(_POLL_S)
        return name

    async def reply(self, thread_id: str, replies: Mapping[str, Json]) -> None:
        """See Runs."""
        await self._run(thread_id, command={"resume": replies_to(await self.snapshot(thread_id), replies)})

    async def resume(self, thread_id: str) -> None:
        """See Runs."""
        snapshot = await self.snapshot(thread_id)
        if not unfinished(snapshot):
            if snapshot.values.get("status") != "failed":
                raise Refused("This thread's task is finished.")
            try:
                node = restart_node(snapshot.values)
            except ValueError as error:
                raise Refused(f"{error}.") from error
            async with _asked(thread_id):
                await self._client.threads.update_state(thread_id, {"status": "running"}, as_node=node)
        await self._run(thread_id)

    async def fork(self, thread_id: str, before: int, guidance: str) -> None:
        """See Runs."""
        checkpoints = ServerThread(thread_id, self._client)
        try:
            async with _asked(thread_id):
                at = await fork(checkpoints, await before_step(checkpoints, before), [guidance])
        except ForkError as error:
            raise Refused(f"{error}.") from error
        await self._run(thread_id, checkpoint=at)

    async def wrong(self, thread_id: str, why: str) -> None:
        """See Runs. The person's words are the advice: no model is asked outside of a run."""
        snapshot = await self.snapshot(thread_id)
        check_answered(snapshot)
        advice = spoken(said_of(why, thread_id, snapshot.values), scrubber(self._settings))
        own = namespace_of(self._user, "default")
        await self._client.store.put_item(own, advice.id, advice.model_dump(mode="json"))
        await self._run(thread_id, input=again(why, snapshot.values))

    async def stop(self, thread_id: str) -> None:
        """See Runs."""
        async with _asked(thread_id):
            runs = await self._client.runs.list(thread_id, limit=10)
            active = [run["run_id"] for run in runs if run["status"] in ("pending", "running")]
            for run_id in active:
                await self._client.runs.cancel(thread_id, run_id, wait=True)
        if not active:
            raise Refused("This thread is not running.")

    async def _run(self, thread_id: str, context: Json | None = None, **given: Any) -> None:
        """Queue a run, by default with the context of the thread's last one. Raises Refused."""
        async with _asked(thread_id):
            if context is None:
                context = await ServerThread(thread_id, self._client).last_context()
            await self._client.runs.create(
                thread_id, ASSISTANT, context=context or None, multitask_strategy="reject", **given
            )

    def _checked(self, settings: Mapping[str, str]) -> Json:
        """The settings of a new task as a run's context. Raises Refused."""
        sets = [f"{name}={value}" for name, value in settings.items()]
        with refusals():
            context = context_of(Context, Flags(sets=sets), self._settings)
        return context.model_dump(mode="json", include=set(settings))

    async def _row(self, thread_id: str) -> Any:
        """The thread's row without its state. Raises UnknownThread."""
        async with _asked(thread_id):
            rows = await self._client.threads.search(ids=[thread_id], select=["status", "updated_at"])
        if not rows:
            raise UnknownThread(thread_id)
        return rows[0]


def _mark_of(plan: Json) -> tuple[Any, Any]:
    """What differs between the plans of a thread: the version, and the last step before it."""
    return plan.get("version"), plan.get("n")


@asynccontextmanager
async def _asked(thread_id: str) -> AsyncIterator[None]:
    """What the server answers to a request, as the viewer's exceptions."""
    try:
        if thread_id:
            uuid.UUID(thread_id)
    except ValueError:
        raise UnknownThread(thread_id) from None
    try:
        yield
    except httpx.TransportError as error:
        raise Refused("The server does not answer.") from error
    except httpx.HTTPStatusError as error:
        answer = error.response
        if answer.status_code >= 500:
            raise
        if answer.status_code == 404:
            raise UnknownThread(thread_id) from error
        raise Refused(f"The server refused: {one_line(_detail(answer), 400)}") from error


def _detail(answer: Any) -> str:
    """What a refusal of the server's says."""
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} {answer.text}"
