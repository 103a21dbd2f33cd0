"""Rows that no program of ours has written fail with a reason, and hold nobody else up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forethought.batch import BatchTask, progress_of, retry
from forethought.batch.changing import damaged
from forethought.batch.given import digest_of, read_given
from forethought.batch.progress import listed
from forethought.batch.tasks import with_ids
from forethought.storage.encryption import cipher_of
from tests.forethought.batch.conftest import Bench, MakeBench, script
from tests.support.replies import call

KEY = "00112233445566778899aabbccddeeff"
CONTEXT = {"model": "openai:scripted"}
GIVEN: dict[str, Any] = {"task": "a", "context": CONTEXT, "files": []}


async def errors(b: Bench) -> dict[str, str]:
    return {job["id"]: job["error"] async for job in listed(b.queue)}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("{", "Invalid JSON"),
        ("[]", "object"),
        (json.dumps({"task": "a", "context": {}}), "files: Field required"),
        (json.dumps({**GIVEN, "task": 7}), "task: Input should be a valid string"),
        (json.dumps({**GIVEN, "context": {**CONTEXT, "foo": 1}}), "context.foo: Extra inputs"),
        (json.dumps({**GIVEN, "files": ["/etc/passwd"]}), "files.0"),
        (json.dumps({**GIVEN, "files": [{"name": "x", "hash": "../../etc/passwd"}]}), "files.0.hash"),
    ],
)
async def test_what_cannot_be_read_fails_with_a_reason_and_runs_nothing(
    bench: MakeBench, given: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench() as b:
        await b.submit("x", "sound")
        await b.queue.threads.rows("UPDATE forethought_jobs SET given = ? WHERE task = 'x'", (given,))
        assert await b.work() == {"failed": 1, "done": 1}
        told = b.ended["b:x"]
        assert why in told.error
        assert told.error.startswith("its row cannot be read")
        assert not told.internal
        assert await errors(b) == {"x": told.error, "sound": ""}
        assert len(b.server.requests) == 4
        assert "Traceback" not in caplog.text


async def test_what_a_job_had_cost_stays_when_it_fails_before_it_runs(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("x")
        await b.queue.threads.rows("""UPDATE forethought_jobs SET given = 'x', usage = '{"calls": 7}'""")
        await b.queue.threads.rows("UPDATE forethought_jobs SET begun_from = NULL")
        await b.work()
        assert (await progress_of(b.queue)).calls == 7


async def test_what_was_not_encrypted_with_the_key_is_not_run(bench: MakeBench) -> None:
    async with bench(encryption_key=KEY) as b:
        await b.submit("x")
        await b.queue.threads.rows("UPDATE forethought_jobs SET given = ?", (json.dumps(GIVEN),))
        assert await b.work() == {"failed": 1}
        assert "FORETHOUGHT_ENCRYPTION_KEY is not the key" in b.ended["b:x"].error
        assert b.server.requests == []


@pytest.mark.parametrize("args", ["{}", '{"thread_id": "nobody"}'])
async def test_a_job_is_what_its_own_row_says(bench: MakeBench, args: str) -> None:
    async with bench() as b:
        await b.submit("x")
        await b.queue.threads.rows("UPDATE procrastinate_jobs SET args = ?::jsonb", (args,))
        assert await b.work() == {"done": 1}


async def test_a_task_that_is_none_of_ours_is_not_carried_out(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("x", "sound")
        await b.queue.threads.rows("UPDATE procrastinate_jobs SET task_name = 'os.system' WHERE lock = 'b:x'")
        assert await b.work() == {"done": 1}
        assert "forethought jobs --retry" in (await errors(b))["x"]


@pytest.mark.parametrize("usage", ["[1]", '{"calls": "x"}', '{"usd": 1e400}', '{"usd": -5}', '"x"'])
async def test_damaged_costs_are_told_and_not_counted(bench: MakeBench, usage: str) -> None:
    async with bench() as b:
        await b.submit("x", "sound")
        await b.work()
        await b.queue.threads.rows("UPDATE forethought_jobs SET usage = ?::jsonb WHERE task = 'x'", (usage,))
        found = await progress_of(b.queue)
        assert (found.calls, found.damaged, found.total) == (4, 1, 2)


@pytest.mark.parametrize("when", ["NULL", "'infinity'", "'-infinity'"])
async def test_times_that_no_worker_writes_are_told_and_stop_no_count(bench: MakeBench, when: str) -> None:
    async with bench() as b:
        await b.submit("x", "sound", "y")
        await b.work()
        await b.submit("open")
        await b.queue.threads.rows(
            f"UPDATE forethought_jobs SET ended_at = {when}, started_at = {when}, outcome = 'waiting' "
            "WHERE task = 'x'"
        )
        await b.queue.threads.rows(
            f"UPDATE forethought_jobs SET started_at = {when}, submitted_at = coalesce({when}, now()) "
            "WHERE task <> 'x'"
        )
        found = await progress_of(b.queue)
        assert (found.damaged, found.total, "waiting" in found.oldest) == (1, 4, False)
        assert found.per_minute > 0


async def test_a_damaged_thread_stops_no_other_job_of_its_batch(bench: MakeBench) -> None:
    asks = call("a", tool="ask_user", question="Which colour?", choices=[])
    async with bench(script(moves={"a": [asks]})) as b:
        await b.submit("x", "sound")
        assert await b.work() == {"waiting": 2}
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'failed' WHERE task = 'sound'")
        await b.queue.threads.rows("UPDATE checkpoint_blobs SET type = 'json' WHERE thread_id = 'b:x'")
        assert await retry(b.queue) == 1
        ((thread_id, why),) = (await damaged(b.queue)).items()
        assert (thread_id, "thread b:x: its checkpoint cannot be read" in why) == ("b:x", True)


@pytest.mark.parametrize("channel", ["usage", "progress", "dispatch"])
async def test_a_state_that_no_run_writes_fails_its_job_with_the_reason(
    bench: MakeBench, channel: str
) -> None:
    asks = call("a", tool="ask_user", question="Which colour?", choices=[])
    async with bench(script(moves={"a": [asks]})) as b:
        await b.submit("x")
        assert await b.work() == {"waiting": 1}
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'failed'")
        await b.queue.threads.rows(
            "UPDATE checkpoint_blobs SET type = 'msgpack', blob = ?::bytea WHERE channel = ?",
            (b"\x07", channel),
        )
        assert await retry(b.queue) == 1
        assert await b.work() == {"failed": 1}
        assert f"channel {channel} is not what a run writes" in b.ended["b:x"].error
        assert not b.ended["b:x"].internal


async def test_an_end_that_nobody_knows_is_a_failure(bench: MakeBench) -> None:
    async with bench(encryption_key=KEY) as b:
        await b.submit("x", "y")
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'odd' WHERE task = 'x'")
        await b.queue.threads.rows(
            "UPDATE forethought_jobs SET outcome = 'failed', error = 'z', ended_at = now() WHERE task = 'y'"
        )
        found = await progress_of(b.queue)
        assert (found.states["failed"], found.damaged, found.total) == (2, 1, 2)
        told = await errors(b)
        assert "changed by hand" in told["x"]
        assert "cannot be read" in told["y"]


async def test_with_a_key_no_hash_tells_of_a_task_that_is_guessed(bench: MakeBench) -> None:
    key, other = bytes.fromhex(KEY), bytes(16)
    task = BatchTask(task="the secret task")
    ids = [with_ids([task], each)[0].id for each in (None, key, key, other)]
    assert ids[1] == ids[2]
    assert len(set(ids)) == 3
    async with bench(encryption_key=KEY) as b:
        await b.submit(task, batch="")
        ((thread_id, digest, given),) = await b.queue.threads.rows(
            "SELECT thread_id, digest, given FROM forethought_jobs"
        )
        plain = json.loads(b.queue.open(given))
        assert digest == digest_of(plain, key) != digest_of(plain, None)
        assert thread_id.endswith(f":{ids[1]}")
        assert read_given(given, cipher_of(key)).task == "the secret task"
