"""Re-runs of the agent's own threads: what is kept is not executed again, and guidance is seen everywhere."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from forethought.rollouts.thread import ThreadRollouts, within
from forethought.rollouts.types import Environment, EnvironmentReply, RolloutError
from forethought.state.context import Context
from forethought.state.history import point_of
from tests.forethought.rollouts.conftest import Record, Recorded, exact
from tests.support.agent import Script, subtask_of
from tests.support.replies import answer, ask_replan, call, check, checked, finish, plan, sub

CHAIN = plan(sub("a"), sub("b", ["a"]), sub("c", ["b"]))
WIDE = plan(sub("a"), sub("b"), sub("c"), sub("d", ["a", "b", "c"]))
ANSWERS = [answer("first"), answer("second"), answer("third"), answer("fourth")]


async def test_every_re_run_begins_at_the_original_and_all_branches_stay(record: Record) -> None:
    out = await record(Script(plans=[CHAIN], answers=ANSWERS))
    first = (await out.thread.read()).id
    again = await out.rollouts()
    branches = [await again.from_step(3, "action", [text]) for text in ("one way", "another way")]
    assert "one way" not in out.later[-1].text
    assert "another way" in out.later[-1].text
    answers = [(await out.state(name))["answer"] for name in (first, *(item.branch for item in branches))]
    assert answers == ["first", "second", "third"]
    assert out.world.calls == ["c", "c"]
    resumed = type(again)(out.thread, again.trajectory, again.read, again.at)
    assert (await resumed.from_step(2, "action", ["a third way"])).kept == 1, "it finds its branch again"
    assert "another way" not in out.later[-1].text


async def test_the_head_is_put_back_and_the_re_run_stays_a_branch(record: Record) -> None:
    out = await record(Script(plans=[CHAIN], answers=ANSWERS))
    again, before = await out.rollouts(), await out.state()
    branch = (await again.from_step(2, "action", [])).branch
    assert (await out.state())["answer"] == "second"
    await again.restore()
    after = await out.thread.read()
    assert (after.values, after.waiting) == (before, ())
    assert (await out.state(branch))["answer"] == "second"
    later = await out.rollouts()
    await later.restore()
    assert (await out.thread.read()).id == after.id, "a head that is in its place is not written again"
    assert (await later.from_step(2, "action", [])).kept == 1, "and it is run again as the run that it is"
    assert out.world.calls == ["b", "c"]


async def test_a_fork_of_a_fork_keeps_the_first_one_s_steps_and_guidance(record: Record) -> None:
    out = await record(Script(plans=[CHAIN], answers=ANSWERS))
    await (await out.rollouts()).from_step(2, "action", ["first correction"])
    fork = await out.state()
    continuation = await (await out.rollouts()).from_step(3, "memory", ["second correction"])
    assert out.world.calls == ["c"]
    assert all("first correction" in seen.text and "second correction" in seen.text for seen in out.later)
    assert exact((await out.state())["trajectory"][:2]) == exact(fork["trajectory"][:2])
    assert (continuation.kept, continuation.trajectory.answer) == (2, "third")


async def test_guidance_survives_new_plans_new_rounds_and_the_tasks_own(record: Record) -> None:
    moves = {"a": [call("a"), call("a"), finish("a")], "b": [call("b"), ask_replan(), call("again")]}
    answers = [answer("first"), answer("weak", score=3), answer("second")]
    script = Script(plans=[CHAIN, CHAIN, plan(), plan(sub("late"))], moves=moves, answers=answers)
    out = await record(script, given={"guidance": ["the task's own"]}, round_reflection=True)
    await (await out.rollouts()).from_step(2, "action", ["mind the footnote"])
    assert {"ToolChoice", "Plan", "PlanDiagnosis", "AnswerDraft", "RoundReflection"} == set(out.kinds)
    assert all("mind the footnote" in seen.text and "the task's own" in seen.text for seen in out.later)


async def test_a_planning_error_goes_back_to_the_plan_in_force(record: Record) -> None:
    second = plan(sub("x"), sub("y", ["x"]))
    script = Script(plans=[CHAIN, second, second], moves={"b": [ask_replan()]}, answers=ANSWERS)
    out = await record(script)
    assert [step["subtask"] for step in (await out.state())["trajectory"]] == ["a", "b", "x", "y"]
    continuation = await (await out.rollouts()).from_step(4, "planning", ["plan with care"])
    assert out.kinds[:2] == ["Plan", "PlanDiagnosis"]
    assert all("plan with care" in seen.text for seen in out.later)
    assert (continuation.kept, out.world.calls) == (2, ["x", "y"])
    assert [step["subtask"] for step in (await out.state())["trajectory"]] == ["a", "b", "x", "y"]


async def test_the_first_plan_of_a_second_task_leaves_the_first_task_alone(record: Record) -> None:
    out = await record(Script(plans=[plan(sub("a")), CHAIN, CHAIN], answers=ANSWERS))
    await out.run(task="the next task", guidance=["its own"])
    continuation = await (await out.rollouts()).from_step(3, "planning", ["plan with care"])
    state = await out.state()
    assert out.world.calls == ["a", "b", "c"]
    assert all("plan with care" in seen.text and "its own" in seen.text for seen in out.later)
    assert [(step["n"], step["task"]) for step in state["trajectory"]] == [(1, 1), (2, 2), (3, 2), (4, 2)]
    assert (continuation.trajectory.task, continuation.kept) == ("the next task", 0)
    assert len([item for item in state["messages"] if item.type == "human"]) == 2


PLANNED = ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]


@pytest.mark.parametrize(
    ("step", "module", "kinds", "calls", "kept"),
    [
        (2, "action", ["ToolChoice", "ToolChoice", "AnswerDraft"], ["b", "c"], 1),
        (4, "action", ["AnswerDraft"], [], 3),
        (2, "planning", PLANNED, ["other"], 0),
        (0, "", PLANNED, ["other"], 0),
    ],
    ids=["before a step", "before the answer", "the first plan", "from the start"],
)
async def test_only_what_follows_the_fork_is_run_and_sees_the_guidance(
    record: Record, step: int, module: Any, kinds: list[str], calls: list[str], kept: int
) -> None:
    out = await record(Script(plans=[CHAIN, plan(sub("other"))], answers=ANSWERS))
    before, again = await out.state(), await out.rollouts()
    guidance = ["mind the unit"]
    continuation = await (again.from_step(step, module, guidance) if step else again.from_start(guidance))
    assert (out.kinds, out.world.calls) == (kinds, calls)
    assert all("mind the unit" in seen.text for seen in out.later)
    after, run = await out.state(continuation.branch), continuation.trajectory
    assert exact(after["trajectory"][:kept]) == exact(before["trajectory"][:kept])
    assert (continuation.kept, run.answer, after["answer"]) == (kept, "second", "second")
    assert [item.number for item in run.steps] == list(range(1, len(run.steps) + 1))
    assert (continuation.status, continuation.usage["calls"]) == ("answered", len(kinds))


@pytest.mark.parametrize(
    ("step", "module", "kinds"),
    [
        (2, "action", ["ToolChoice", "AnswerDraft"]),
        (1, "action", ["ToolChoice", "AnswerDraft", "ToolChoice", "AnswerDraft"]),
        (2, "planning", ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft", "ToolChoice", "AnswerDraft"]),
        (3, "action", ["AnswerDraft"]),
    ],
    ids=["its own step", "before it", "its plan", "the answer"],
)
async def test_a_mended_run_is_forked_before_or_after_its_mending(
    record: Record, step: int, module: Any, kinds: list[str]
) -> None:
    unmet = checked("weak", check("the year", "no"), work="look at the year")

    def answers(seen: Any) -> Any:
        return unmet if "checks" in seen.schema["properties"] else answer("mended")

    out = await record(Script(plans=[plan(sub("a"))], answers=answers), effort="auto")
    continuation = await (await out.rollouts()).from_step(step, module, ["mind it"])
    assert out.kinds == kinds
    assert (continuation.status, continuation.trajectory.answer) == ("answered", "mended")
    state = await out.state()
    assert [item["kind"] for item in state["replans"]] == ["checks"]
    assert state["progress"]["planned_at"] == [0, 1]


async def test_steps_that_ran_side_by_side_are_run_again_together(record: Record) -> None:
    out = await record(Script(plans=[WIDE], answers=ANSWERS))
    continuation = await (await out.rollouts()).from_step(3, "action", ["mind it"])
    moves = [seen for seen in out.later if seen.reply_name == "ToolChoice"]
    assert sorted(subtask_of(seen) for seen in moves) == ["a", "b", "c", "d"]
    assert all("mind it" in seen.text for seen in moves)
    assert (continuation.kept, sorted(out.world.calls)) == (0, ["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("action", "tool", "arguments", "calls", "result"),
    [
        ("", "lookup", {"key": "better", "note": None}, ["better", "c"], "value of better"),
        ('lookup({"key": "better", "note": null})', "", {}, ["better", "c"], "value of better"),
        ("finish: it is 7", "", {}, ["c"], "it is 7"),
    ],
)
async def test_an_action_is_replaced_by_another_call_or_a_result(
    record: Record, action: str, tool: str, arguments: dict[str, Any], calls: list[str], result: str
) -> None:
    out = await record(Script(plans=[CHAIN], answers=ANSWERS))
    again = await out.rollouts()
    continuation = await again.substituted(2, action, tool, arguments)
    assert out.world.calls == calls
    assert out.kinds == ["ToolChoice", "AnswerDraft"]
    assert (continuation.kept, (await out.state())["results"]["b"]["text"]) == (1, result)
    answered = await again.substituted(4, "answer: 42", "", {})
    assert (answered.trajectory.answer, answered.kept, len(out.later)) == ("42", 3, 2)


@pytest.mark.parametrize(
    ("step", "action", "line"),
    [
        (9, "finish: x", r"thread t has no step 9; choose from 1 to 3"),
        (2, "look around", r"no move of the agent's \('look around'\): write it as tool"),
        (2, "answer: 42", r"substitute it at the answer's own step"),
    ],
)
async def test_a_substitution_that_cannot_be_made(record: Record, step: int, action: str, line: str) -> None:
    out = await record(Script(plans=[CHAIN]))
    again = await out.rollouts()
    with pytest.raises(RolloutError, match=line):
        await again.substituted(step, action, "", {})
    assert (out.later, out.world.calls) == ([], [])


async def test_a_checkpoint_that_is_gone_is_said_in_one_line(record: Record) -> None:
    out = await record(Script(plans=[CHAIN]))
    again = await out.rollouts()
    points = [point_of(item) async for item in out.graph.aget_state_history(out.thread.config)]
    for name in [point.id for point in points if not point.steps][-3:]:
        await out.saver.conn.execute("DELETE FROM checkpoints WHERE checkpoint_id = ?", (name,))
    for gone in (
        again.from_step(1, "planning", []),
        again.from_step(3, "action", []),
        again.from_start([]),
    ):
        with pytest.raises(
            RolloutError, match=r"^thread t: the checkpoint before .* was deleted or pruned"
        ) as raised:
            await gone
        assert "\n" not in str(raised.value)
    await out.saver.adelete_thread("t")
    with pytest.raises(RolloutError, match="thread t does not exist"):
        await type(again)(out.thread, again.trajectory, again.read, again.at).from_step(1, "action", [])


def storing() -> Script:
    return Script(plans=[CHAIN], moves={"b": [call(tool="store", text="x")]}, answers=ANSWERS)


async def test_a_write_that_a_fork_would_leave_behind_is_refused(record: Record) -> None:
    out = await record(storing())
    again = await out.rollouts()
    with pytest.raises(RolloutError, match=r"steps 2 changed outside.*Environment.*allow_writes"):
        await again.from_step(1, "action", [])
    assert (out.later, out.written) == ([], ["x"])
    assert (await again.from_step(3, "action", [])).kept == 2, "what was written before stands as it is"
    assert (await (await out.rollouts(allow_writes=True)).from_step(2, "action", [])).kept == 1
    assert out.written == ["x", "x"]


async def test_a_re_run_that_writes_forbids_the_next_one(record: Record) -> None:
    out = await record(Script(plans=[CHAIN], moves={"c": [call("c"), call(tool="store", text="y")]}))
    again = await out.rollouts()
    await again.from_step(3, "action", [])
    with pytest.raises(RolloutError, match=r"would not undo what steps 3 changed outside"):
        await again.from_step(3, "action", [])
    await again.restore()
    later = await out.rollouts()
    with pytest.raises(RolloutError, match=r"would not undo what steps 3 changed outside"):
        await later.from_step(3, "action", [])


WRITES_AT_C = {"c": [call("c"), call(tool="store", text="y")]}


async def broken_off(out: Recorded, again: ThreadRollouts, guidance: list[str]) -> None:
    """A re-run from step 2 that got as far as having stored something at step 3."""
    out.shelf.hangs = True
    run = asyncio.create_task(again.from_step(2, "action", guidance))
    await asyncio.wait_for(out.shelf.began.wait(), 20)
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    out.shelf.hangs = False
    assert out.written == ["y"]


async def test_a_re_run_that_was_broken_off_is_gone_on_with_and_writes_nothing_twice(record: Record) -> None:
    guidance = ["mind the footnote"]
    out = await record(Script(plans=[CHAIN], moves=WRITES_AT_C, answers=ANSWERS))
    again = await out.rollouts()
    await broken_off(out, again, guidance)
    asked = len(out.later)
    with pytest.raises(RolloutError, match=r"stopped during tool calls.*allow_writes"):
        await again.from_step(2, "action", ["another way"])
    later = type(again)(out.thread, again.trajectory, again.read, again.at)
    continuation = await later.from_step(2, "action", guidance)
    assert (continuation.status, out.written) == ("waiting", ["y"]), (
        "a person is asked whether it took effect"
    )
    assert (out.world.calls, len(out.later), continuation.kept) == (["b"], asked, 1), "nothing is done again"


class Store:
    """The world of the tool `store`."""

    name, task = "store", "the task"

    def __init__(self, written: list[str]) -> None:
        self.written = written
        self.log: list[str] = []

    async def reset(self) -> EnvironmentReply:
        self.written.clear()
        self.log.append("reset")
        return EnvironmentReply("")

    async def step(self, action: str) -> EnvironmentReply:
        self.log.append(action)
        found = re.search(r'"text": "(\w+)"', action)
        if found:
            self.written.append(found[1])
            return EnvironmentReply(f"stored {found[1]}")
        return EnvironmentReply("value of a")


async def test_an_environment_is_put_back_to_where_the_kept_steps_end(record: Record) -> None:
    out = await record(storing())
    store = Store(out.written)
    environment: Environment = store
    again = await out.rollouts(environment=environment)
    continuation = await again.from_step(3, "action", [])
    assert store.log == ["reset", 'lookup({"key": "a", "note": null})', 'store({"text": "x"})']
    assert (out.written, continuation.diverged) == (["x"], "")
    await again.from_step(1, "action", [])
    assert out.written == ["x"]


async def test_a_re_run_that_waits_for_a_person_says_so(record: Record) -> None:
    moves = {"c": [call("c"), call(tool="ask_user", question="Which?", choices=[])]}
    out = await record(Script(plans=[CHAIN], moves=moves))
    continuation = await (await out.rollouts()).from_step(3, "action", [])
    assert (continuation.status, continuation.trajectory.answer) == ("waiting", "")


async def test_a_re_run_stays_within_what_it_may_cost(record: Record) -> None:
    out = await record(Script(plans=[CHAIN], answers=ANSWERS))
    again = await out.rollouts(max_tokens=2_000)
    continuation = await again.from_step(2, "action", ["mind the footnote"])
    assert (continuation.status, continuation.trajectory.answer) == ("budget_exhausted", "second")
    assert out.kinds == ["ToolChoice", "AnswerDraft"], "the step that it was forked at, and no further one"
    assert (await (await out.rollouts(max_tokens=400_000)).from_step(2, "action", [])).status == "answered"


def test_a_budget_of_its_own_that_is_smaller_stays() -> None:
    assert within({"max_tokens": 5_000}, {"max_tokens": 9_000}) == {"max_tokens": 5_000}
    lower = within({"max_tokens": 5_000, "max_steps": 7}, {"max_tokens": 3_000, "max_usd": 0.5})
    assert isinstance(lower, Context)
    assert (lower.max_tokens, lower.max_usd, lower.max_steps) == (3_000, 0.5, 7)
    assert "model" not in lower.model_fields_set
