"""`forethought eval run tau-bench`: what a benchmark's customer says is foreseen as a person's words are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli
from tests.support import tiny_checkouts
from tests.support.model_server import Answer, ModelServer, SeenRequest
from tests.support.replies import answer, diagnosis, finish, plan, sub, verdict

FORESEEN, SAID = "The customer gives the number m1.", "I never asked for Emma. I want my money back!"
TALK = {
    "thought": "ask",
    "action": "call",
    "tool": "respond",
    "arguments": {"message": "Your number, please?"},
    "finishes": False,
    "result": None,
    "reason": None,
    "expected": FORESEEN,
    "defects": [],
}


@pytest.mark.parametrize("foresight", ["user", "both"])
def test_a_contradiction_through_respond_is_compared_and_reflected_on(
    cli: Cli,
    model_server: Callable[..., ModelServer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    foresight: str,
) -> None:
    customer = iter(["Emma, please.", SAID])
    moves = iter([TALK, finish("refused")])

    def policy(seen: SeenRequest) -> Answer:
        replies: dict[str, Callable[[], Any]] = {
            "CustomerReply": lambda: {"thought": "", "state": "continues", "message": next(customer, "No.")},
            "Plan": lambda: plan(sub("s1")),
            "PlanDiagnosis": diagnosis,
            "ToolChoice": lambda: next(moves),
            "ForesightVerdict": lambda: verdict("significant", "They want a refund.", difference="a refund"),
            "AnswerDraft": lambda: answer("We are sorry.", [1]),
        }
        return replies[seen.reply_name]()  # type: ignore[no-any-return]

    server = model_server(policy)
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    checkout = tiny_checkouts.tau_bench(tmp_path / "checkout")
    command = ("eval", "run", "tau-bench", "--data", str(checkout), "--option", "domain=retail", "--limit")
    out = cli(*command, "1", "--set", f"foresight={foresight}", "--yes", "--out", "o")
    assert out.code == 0, out.err
    (asked,) = [seen for seen in server.requests if seen.reply_name == "ForesightVerdict"]
    assert FORESEEN in asked.last
    assert SAID in asked.last
    assert "What came are a person's words" in asked.text
    first, second = (seen for seen in server.requests if seen.reply_name == "ToolChoice")
    assert "With a call of respond, `expected` is the answer that you expect from the person" in first.text
    assert "They want a refund." in second.last
