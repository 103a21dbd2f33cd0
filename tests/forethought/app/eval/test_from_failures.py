"""SAMULE and AgentDebug in one evaluation, from training to retries, in a shop and at a service desk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forethought.evals.actions import call_text
from forethought.trajectories.read import read_trajectories
from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import lines
from tests.forethought.app.eval.scripts import GUIDANCE, REMEDY, Json, Shopper
from tests.support import tiny_checkouts
from tests.support.evaluating import done, move
from tests.support.model_server import ModelServer

BOTH = ("--method", "samule,agentdebug", "--tries", "3", "--train", "2", "--yes", "--out", "o")


def check_retries(server: ModelServer) -> tuple[Json, Json]:
    """Both methods solve the sample at the second try, whose prompt has what they learned. Their rows."""
    by_method = {row["method"]: row for row in lines()}
    for row in by_method.values():
        assert (row["score"], row["tries"], row["asked_outcome"]) == (1.0, 2, True), row
        assert row["usage"]["input_tokens"] > 0
    (prompted,) = [seen for seen in server.requests if seen.reply_name == "SelfReflection"]
    assert f"Merged: {REMEDY}." in prompted.last
    retried = [seen for seen in server.requests if f"I was hasty: {REMEDY}." in seen.last]
    assert {seen.reply_name for seen in retried} == {"ReactMove"}
    corrected = [seen for seen in server.requests if f"<guidance>\n{GUIDANCE}" in seen.last]
    assert {seen.reply_name for seen in corrected} == {"ModularStep"}
    return by_method["samule"], by_method["agentdebug"]


def learned() -> Json:
    """What SAMULE learned, and what that cost."""
    record: Json = json.loads(Path("o/learned/samule.json").read_text())
    assert record["usage"]["calls"] > 0
    return record["learned"] | {"usage": record["usage"]}


def test_in_a_shop_without_references(cli: Cli, served: Callable[..., ModelServer]) -> None:
    shopper = Shopper()
    server = served(shopper)
    out = cli("eval", "run", "small-shop", "--sample", "errand-09", *BOTH)
    assert out.code == 0, out.err
    check_retries(server)
    (prompted,) = [seen for seen in server.requests if seen.reply_name == "SelfReflection"]
    assert '<reflection error_type="hasty_count">\nHaste recurs.' in prompted.last
    assert (learned()["trials"], learned()["solved"], len(learned()["records"])) == (4, 2, 2)
    assert shopper.asked["CriticalError"] == 1
    micro = [seen for seen in server.requests if seen.reply_name == "TrialReflection"]
    assert len(micro) == 2, "the benchmark called the second try of each a success"
    assert all("None is known" in seen.last and "trial_answer" not in seen.last for seen in micro)
    assert all("- act(action): Take one action" in seen.last for seen in micro), "what it could do"


def test_each_training_try_has_the_whole_budget(cli: Cli, served: Callable[..., ModelServer]) -> None:
    server = served(Shopper())
    out = cli("eval", "run", "small-shop", "--sample", "errand-09", "--steps", "3", *BOTH)
    assert out.code == 0, out.err
    assert (learned()["trials"], learned()["solved"]) == (6, 0), "a careful shopper needs five steps"
    last = [seen for seen in server.requests if seen.reply_name == "TrialReflection"][-1]
    assert f"<earlier_reflection>\nIt was hasty: {REMEDY}." in last.last


class Librarian(Shopper):
    """Lends for the wrong member, or not at all, unless it is told better."""

    def _action(self, user: str, heeds: str) -> str:
        member = "m1" if heeds in user else "m9"
        way = [call_text("lend_book", {"book_id": "b1", "member": member}), "finish[It costs 12.]"]
        return way[user.count("<step")]

    def _ReactMove(self, user: str) -> Json:
        lends = REMEDY in user and "<step" not in user
        return move("lend_book", **tiny_checkouts.LEND) if lends else done("Good-bye.")

    def _CriticalError(self, user: str) -> Json:
        return {**super()._CriticalError(user), "critical_step": 1, "evidence": "lend_book"}

    def _CustomerReply(self, user: str) -> Json:
        return {"thought": "", "state": "continues", "message": "Emma, please. I am m1."}


def test_at_a_service_desk_with_the_right_calls_as_references(
    cli: Cli, served: Callable[..., Any], tmp_path: Path
) -> None:
    server = served(Librarian())
    checkout = str(tiny_checkouts.tau_bench(tmp_path / "checkout"))
    chosen = ("--data", checkout, "--option", "domain=retail", "--sample", "retail-test-0")
    out = cli("eval", "run", "tau-bench", *chosen, *BOTH)
    assert out.code == 0, out.err
    samule, agentdebug = check_retries(server)
    assert agentdebug["steps"] == 2, "the database is put back before a re-run"
    assert samule["judge_usage"]["calls"] > 0, "the customer is booked apart"
    micro = [seen for seen in server.requests if seen.reply_name == "TrialReflection"]
    assert len(micro) == 3, "a task that is solved by doing nothing teaches nothing"
    assert all('"name": "get_book"' in seen.last for seen in micro), "the calls of a right run"
    kept = read_trajectories(Path("o") / samule["trajectory"])[0]
    assert '"name": "lend_book"' in kept.reference.solution, "`synthesize o/trajectories` has it too"
