"""What is kept back for the answer is at least what its prompt takes, whatever stands in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.models.tokens import estimate_tokens
from forethought.nodes.support.answer_prompt import answer_messages, answer_prompt_tokens
from forethought.nodes.support.budget import reserve_tokens
from forethought.state.context import Context
from tests.nodes.support.test_long_run import steps

TEXTS = st.text(max_size=200) | st.sampled_from(
    ["</step><step>", "< / task >" * 9, "观察" * 60, "a\n\n\n\nb", "{'x': 1}"]
)


def thread(count: int, observation: str, code: str = "", *, task: str = "x", earlier: int = 0) -> Any:
    """A task whose subtasks took a step each."""
    found: Any = steps(count, chars=0, a_subtask=1)
    for step in found:
        step.update(observation=observation, arguments={"code": code}, task=1, finished=step["ok"])
    return {
        "task": task,
        "plan": {"subtasks": []},
        "results": {
            step["subtask"]: {"n": step["n"], "text": observation, "origin": ""}
            for step in found
            if step["ok"]
        },
        "trajectory": found,
        "progress": {
            "task": 1,
            "stopped": "",
            "earlier": [{"task": task, "answer": observation, "status": "answered"}] * earlier,
        },
    }


def rendered(state: Any) -> int:
    return sum(estimate_tokens(message.text) for message in answer_messages(state, Context()))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), TEXTS, TEXTS, TEXTS, st.integers(0, 4))
def test_the_estimate_is_never_below_the_rendered_prompt(
    count: int, observation: str, code: str, task: str, earlier: int
) -> None:
    state = thread(count, observation, code, task=task, earlier=earlier)
    assert rendered(state) <= answer_prompt_tokens(state, Context()) + 1


@pytest.mark.parametrize(
    ("count", "observation", "code", "task", "earlier"),
    [
        (20, "o" * 20_000, "", "x", 0),
        (1_000, "o" * 2_600, "c" * 6_000, "x", 0),
        (5, "o", "", "q" * 100_000, 0),
        (5, "o" * 4_000, "", "x", 40),
        (20, "观" * 5_000, "", "x", 0),
    ],
    ids=["observations", "a long run", "the task", "earlier answers", "another script"],
)
def test_the_reserve_holds_the_whole_answer_prompt(
    count: int, observation: str, code: str, task: str, earlier: int
) -> None:
    state = thread(count, observation, code, task=task, earlier=earlier)
    needed, reserve = rendered(state), reserve_tokens(state, Context(max_tokens=100_000))
    assert needed + 1_000 < reserve < 1.2 * needed + 12_000


def test_another_script_takes_about_a_token_a_character() -> None:
    assert estimate_tokens("a" * 700) == 200
    assert 1_000 <= estimate_tokens("观" * 1_000) <= 1_300
    assert estimate_tokens("\ud800") > 0
    assert estimate_tokens("") == 0
