"""Threads of every kind, which the viewer shows: made once, by the command line and the graph themselves."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forethought.app.main import run_cli
from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from tests.browser import hostile
from tests.browser.hostile import ATTACKS, HOSTILE, HostileScript, hostile_state
from tests.browser.viewer import settings_of
from tests.forethought.app.scripted import Script, choice, own_subtask
from tests.support.model_server import Fault, ModelServer, SeenRequest
from tests.support.sample_state import step

Json = dict[str, Any]
STEPS = 1_000
"""Of the thread `long`."""
STATUSES = {
    "demo": "answered",
    "failed": "failed",
    "forked": "answered",
    "waiting": "interrupted",
    "asking": "interrupted",
    "calling": "interrupted",
    "hostile": "answered",
    "attack": "answered",
    "long": "answered",
}
"""The status of each thread, by the name that tests call it."""
DECISIONS = ("approve", "reject")
"""What tests reply to the threads `call to DECISION`."""


class Fetching(Script):
    """A model that opens an address, for which a person is asked."""

    address = "http://127.0.0.1:9/forty-two"

    def toolchoice(self, seen: SeenRequest) -> Json:
        """The address, then the rest as usual."""
        if "40 + 2" in own_subtask(seen):
            return choice("call", tool="visit_webpage", arguments={"url": self.address, "part": None})
        return super().toolchoice(seen)


def prepare_threads(folder: Path, models: ModelServer) -> dict[str, str]:
    """Make the threads of STATUSES in the database of `folder`; their ids."""
    calls = {"calling": "calling"} | {f"call to {one}": f"call-to-{one}" for one in DECISIONS}
    with commands(folder, models) as command:
        demo = json.loads(command("run", "--demo", "--json"))["thread_id"]
        models.policy = Script(fault=_refuse_the_answer)
        command("run", "What is 40 + 2, and 6 * 7?", "--thread", "failed")
        models.policy = script = Script(errors=("insufficient_constraint_verification",))
        command("run", "What is 40 + 2?", "--thread", "forked")
        script.answer = "forty-two"
        command("fork", "forked", "--before", "3", "--guidance", "Write it in words.")
        command("run", "What is 6 * 7?", "--thread", "waiting", "--set", "approve_plan=true")
        for name in ("asking", "hostile"):
            models.policy = HostileScript()
            command("run", HostileScript.task, "--thread", name)
        command("resume", "hostile", "--reply", HOSTILE)
        models.policy = Script()
        command("run", "Count to a thousand", "--thread", "long")
        models.policy = Fetching()
        for name in calls.values():
            command("run", "What is 40 + 2?", "--thread", name, "--set", "approve_tools=always")
    for name in ("hostile", hostile.THREAD):
        asyncio.run(_write(folder, name, hostile_state()))
    asyncio.run(_write(folder, "long", {"trajectory": [_counted(n) for n in range(4, STEPS + 1)]}))
    return {name: name for name in STATUSES} | calls | {"demo": demo, "attack": hostile.THREAD}


@contextlib.contextmanager
def commands(folder: Path, models: ModelServer) -> Iterator[Any]:
    """`forethought` over the database of `folder`, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)

        def run(*arguments: str) -> str:
            for name, value in settings_of(folder, models.url).items():
                patch.setenv(name, value)  # each time, since the demo takes settings back
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run_cli(arguments)
            assert code in (0, 1, 4), err.getvalue()
            return out.getvalue()

        yield run


def _refuse_the_answer(seen: Any) -> Fault | None:
    return (
        Fault("500", message=f"the endpoint is broken {ATTACKS[1]}")
        if seen.reply_name == "AnswerDraft"
        else None
    )


def _counted(n: int) -> Json:
    """One of many steps, with an observation of usual length."""
    text = f"The count is {n}.\n" + "A line that says how far it has come.\n" * 20
    return step(n, "multiply", task=1, round=1, plan_version=1, observation=text, ok=True)


async def _write(folder: Path, thread: str, values: Json) -> None:
    """Write into the thread's newest state what no run would leave."""
    settings = Settings(data_dir=folder / "data")
    async with open_threads(address_of(settings), settings.key) as saver:
        graph = build_agent(settings=settings, checkpointer=saver)
        config: Any = {"configurable": {"thread_id": thread}}
        await graph.aupdate_state(config, values, as_node="score_keeper")
