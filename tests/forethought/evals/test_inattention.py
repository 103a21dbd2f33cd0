"""The reader that overlooks lines of material, whatever method shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.inattention import Reader
from forethought.evals.registry import method
from forethought.text import fence
from tests.support.evaluating import Bureau, Replies, done, move
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

TASK = "How much is paid? Leave out fees."
LINES = [f"Claim {n} is paid with {n + 40} euros." for n in range(200)]


def shown(text: str, probability: float, seed: int = 0, role: str = "user") -> str:
    """What the reader sees of a message."""
    (message,) = Reader(probability, seed).sees([{"role": role, "content": text}])
    return str(message["content"])


@pytest.mark.parametrize("name", ["ours", "ours-paper", "react"])
async def test_each_method_shows_the_reader_no_material_but_the_task_and_its_own_words(
    name: str, bureau: Bureau, tmp_path: Path
) -> None:
    file = tmp_path / "claims.txt"
    file.write_text("\n".join(LINES[:9]))
    reading = {"path": "claims.txt", "part": None, "question": None}
    replies = Replies(
        {
            "Plan": [plan(sub("read_claims"))],
            "PlanDiagnosis": [diagnosis()],
            "ToolChoice": [call(tool="read_file", **reading), finish("It is 42.")],
            "AnswerDraft": [answer("42")],
            "ReactMove": [move("read_file", "my thought", **reading), done("42")],
            "ForesightVerdict": [{"matches": True, "reflection": ""}],
        }
    )
    out = await bureau.work(method(name), replies, task=TASK, files=[file], builtin=["read_file"])
    requests: list[list[dict[str, Any]]] = [seen.body["messages"] for seen in out.server.requests]
    assert any("is paid with" in seen.text for seen in out.server.requests)
    for messages in requests:
        seen = "\n".join(str(message["content"]) for message in Reader(1).sees(messages))
        assert TASK in seen
        assert "is paid with" not in seen
        assert Reader(0).sees(messages) == messages
    last = "\n".join(str(message["content"]) for message in Reader(1).sees(requests[-1]))
    assert ("my thought" if name == "react" else "read_claims") in last


def test_a_given_share_is_overlooked_anew_in_each_prompt_and_the_same_for_the_same_prompt() -> None:
    text = fence("\n".join(LINES), "file", name="claims.txt")
    seen = shown(text, 0.2)
    kept = [line for line in LINES if line in seen]
    assert 140 < len(kept) < 180
    assert seen == shown(text, 0.2)
    assert kept != [line for line in LINES if line in shown(text, 0.2, seed=1)]
    assert kept != [line for line in LINES if line in shown(f"Again.\n{text}", 0.2)]


def test_sentences_are_overlooked_one_by_one_and_rows_as_a_whole() -> None:
    sentences = " ".join(LINES)
    kept = sum(line in shown(fence(sentences, "file"), 0.5) for line in LINES)
    assert 70 < kept < 130
    row = "| A. Weber | 12. May |"
    assert {shown(fence(row, "file"), 0.5, seed).count("Weber") for seed in range(20)} == {0, 1}
    assert all(
        ("Weber" in one) == ("May" in one) for one in (shown(fence(row, "file"), 0.5, n) for n in range(20))
    )


@pytest.mark.parametrize(
    ("text", "role", "left"),
    [
        ("secret", "tool", ""),
        ("secret", "assistant", "secret"),
        (fence("secret", "task"), "user", fence("secret", "task")),
        (fence("thought: mine\naction: f({})\nobservation: secret\nsecret", "step"), "user", "thought: mine"),
        (fence("move: f({})\nfailed (tool), observed (file:a): secret", "step"), "user", "move: f({})"),
        (fence('step 4 [s] f({"a": 1}): ok: secret\nstep 5 [s] g({}): ok: secret', "steps"), "user", "g({})"),
        (f"Begin:\n{fence('secret', 'observation')}\nend", "user", "end"),
        (fence("secret\n<task> or <step> secret", "result", subtask="a", step=1), "user", 'subtask="a"'),
    ],
)  # fmt: skip
def test_what_is_material(text: str, role: str, left: str) -> None:
    seen = shown(text, 1, role=role)
    assert left in seen
    assert ("secret" in seen) == ("secret" in left)
