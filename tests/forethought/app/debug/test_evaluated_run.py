"""debug of an evaluation's trajectory, re-run in the episode that it came from by a model of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.debug_script import GUIDANCE, DebugScript
from tests.support.model_server import SeenRequest

GOOD = "click[b07xyz1234]"


class Shopper(DebugScript):
    """Leaves the shop without a purchase; in a re-run, buys what the first page of a search offers."""

    def reactmove(self, seen: SeenRequest) -> Any:
        """A search, then the end."""
        searched = "search[" in seen.last and "Step 1" in seen.text
        if searched or seen.text.count("search[bag]"):
            return {"thought": "Enough.", "action": "finish", "answer": "nothing"}
        arguments = {"action": "search[bag]"}
        return {"thought": "Look.", "action": "call", "tool": "act", "arguments": arguments}

    def modularstep(self, seen: SeenRequest) -> Any:
        """The end, in other words."""
        return {"action": "answer: bought"}


def test_a_run_of_an_evaluation_is_made_again_in_its_episode_by_the_actor_model(
    cli: Cli, served: Serve, tmp_path: Path
) -> None:
    server = served(Shopper(critical_step=2, evidence="nothing", cascade=False))
    made = cli("eval", "run", "small-shop", "--method", "react", "--limit", "1", "--out", "o", "--yes")
    assert made.code == 0, made.err
    before = len(server.requests)
    again = ("--rerun", "--environment", "o", "--max-reruns", "1", "--set", "actor_model=openai:weak")
    done = cli("debug", "o/trajectories", "--failed", *again, "--json")
    assert done.code == 3, done.err
    (run,) = done.json["runs"]
    assert run["status"] == "not_fixed"
    actors = [seen for seen in server.requests[before:] if seen.body["model"] == "weak"]
    assert [seen.reply_name for seen in actors] == ["ModularStep"]
    assert GUIDANCE in actors[0].text
    assert "click[TEXT]" in actors[0].text, "it is told how to act"
    shown = cli("show", run["thread_id"], "--json").json
    (branch,) = shown["branches"]
    assert (branch["kept"], branch["diverged"], branch["reward"], branch["answer"]) == (1, "", 0.0, "bought")
    elsewhere = cli("debug", "o/trajectories", "--failed", "--rerun", "--environment", ".", "--json")
    assert "no run.json in it" in elsewhere.err
