"""A worker that hangs without dying: its threads go to others, and when it wakes up it changes nothing."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from forethought.batch import progress_of, rescue, running
from forethought.batch.worker import SharedDrain
from forethought.state.context import Context
from forethought.storage import open_threads
from tests.forethought.batch.conftest import MakeBench, script
from tests.forethought.batch.test_worker import until
from tests.support.model_server import SeenRequest
from tests.support.processes import Start
from tests.support.replies import call, plan, sub

PAY = '''
from pathlib import Path
from forethought.tools.base import make_tool

def pay(what: str) -> str:
    """Pay something.

    Args:
        what: What to pay.
    """
    with Path({told!r}).open("a") as file:
        file.write(what + "\\n")
    return f"paid {{what}}"

TOOLS = [make_tool(pay, effect="write")]
'''
WORK = """
import asyncio, os, sys
from pathlib import Path
from forethought.batch import Choices, open_queue, work
from forethought.batch.outcomes import Retries
from forethought.settings import Settings

async def main():
    db, url, folder = sys.argv[1:]
    settings = Settings(
        db=db, base_url=url, model="openai:scripted", data_dir=Path(folder), tools="paying_tool",
        request_retries=0,
    )
    async with open_queue(settings) as queue:
        choices = Choices(
            until_empty=True, retries=Retries(first_s=0.05),
            on_ended=lambda thread, ended, s: print("ended", thread, ended.outcome, ended.error, flush=True),
            on_put_back=lambda thread, why: print("back", thread, why, flush=True),
        )
        await work(queue, settings, choices)

asyncio.run(main())
"""


@pytest.fixture
def paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was paid, a line each; by the tool of the module `paying_tool`."""
    told = tmp_path / "paid"
    (tmp_path / "paying_tool.py").write_text(PAY.format(told=str(told)))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    return told


def told(paid: Path) -> list[str]:
    return paid.read_text().splitlines()


async def test_a_worker_that_wakes_up_makes_no_change_a_second_time(
    bench: MakeBench, postgres: str, python: Start, paid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped as it waits for the model, whose reply has it make a change: it would begin that next."""
    asked, go_on = threading.Event(), threading.Event()

    def moves(seen: SeenRequest) -> Any:
        if not asked.is_set():
            asked.set()
            go_on.wait(30)
        return call("a", tool="pay", what="the rent")

    monkeypatch.setattr(rescue, "SILENT_S", 0.5)
    monkeypatch.setattr(rescue, "LOOK_S", 0.2)
    monkeypatch.setattr(running, "_HELD_S", 0.2)
    async with bench(script(moves={"a": moves}), tools="paying_tool") as b:
        await b.submit("one", context=Context(model="openai:scripted", approve_tools="never"))
        code = f"import sys; sys.path.insert(0, {str(paid.parent)!r})\n{WORK}"
        sleeper = python(code, postgres, b.server.url, str(paid.parent / "machine2"))
        await until(asked.is_set, "the call of the one that will sleep")
        sleeper.send_signal(signal.SIGSTOP)
        go_on.set()
        await b.queue.threads.rows(
            "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 min'"
        )
        await asyncio.sleep(0.6)

        assert await b.work() == {"done": 1}
        assert told(paid) == ["the rent"]
        before = await b.queue.threads.tree("b:one")
        sleeper.send_signal(signal.SIGCONT)
        out, err = await asyncio.to_thread(sleeper.communicate)
        assert sleeper.returncode == 0, err
        assert "back b:one thread b:one: the connection that held it" in out
        assert "ended" not in out, "how it ended was told by the other one"
        assert told(paid) == ["the rent"], "once"
        assert await b.queue.threads.tree("b:one") == before
        assert await b.states() == {"one": "done"}
        assert await b.queue.threads.rows("SELECT id FROM procrastinate_jobs") == []


async def test_where_it_may_not_be_ended_jobs_tells(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def may_not(rows: Any, session: int) -> bool:
        return False

    monkeypatch.setattr(rescue, "end", may_not)
    async with bench() as b:
        await b.submit("one")
        assert (await progress_of(b.queue)).held == []
        async with open_threads(b.queue.address) as hanging, hanging.claim("b:one"):
            await hanging.beat()  # type: ignore[attr-defined]
            drain = SharedDrain()
            working = asyncio.create_task(b.work(drain))
            await until(lambda: b.put_back, "the job to be put back")
            drain.request()
            await working
            (held,) = (await progress_of(b.queue)).held
            assert (held["thread_id"], held["seconds"]) == ("b:one", None)
            monkeypatch.setattr("forethought.batch.progress.DEAD_AFTER_S", 0)
            (seconds,) = [item["seconds"] for item in (await progress_of(b.queue)).held]
            assert seconds is not None


async def test_a_worker_that_lives_is_not_ended_however_long_a_call_takes(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue, "SILENT_S", 0.6)
    monkeypatch.setattr(rescue, "HEARTBEAT_S", 0.15)
    monkeypatch.setattr(rescue, "LOOK_S", 0.1)
    wait = threading.Event()

    def plans(seen: SeenRequest) -> Any:
        wait.wait(1.5)
        return plan(sub("a"))

    async with bench(script(plans=plans)) as b:
        await b.submit("one")
        assert await b.work() == {"done": 1}
        assert b.put_back == []
