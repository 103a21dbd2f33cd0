"""debug of an evaluation's trajectory, re-run in the episode that it came from by a model of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forethought.evals.actions import call_text
from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.debug_script import GUIDANCE, DebugScript
from tests.support import tiny_checkouts
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
    assert run["usage"]["calls"] == len(server.requests) - before
    elsewhere = cli("debug", "o/trajectories", "--failed", "--rerun", "--environment", ".", "--json")
    assert "no run.json in this folder" in elsewhere.err


class Librarian(Shopper):
    """Says nothing at a service desk; a customer answers in a re-run."""

    def reactmove(self, seen: SeenRequest) -> Any:
        """The end at once."""
        return {"thought": "Enough.", "action": "finish", "answer": "Good-bye."}

    def customerreply(self, seen: SeenRequest) -> Any:
        """What the customer says."""
        return {"thought": "", "state": "continues", "message": "Emma, please."}

    def modularstep(self, seen: SeenRequest) -> Any:
        """A word to the customer, and the end."""
        asked = "Which book?" in seen.last
        action = "answer: bye" if asked else call_text("respond", {"message": "Which book?"})
        return {"action": action}


def test_what_the_customer_of_a_re_run_costs_is_in_the_debuggings_usage(
    cli: Cli, served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_EVALS_DIR", str(tmp_path / "data"))
    tiny_checkouts.tau_bench(tmp_path / "data" / "tau-bench")
    server = served(Librarian(critical_step=1, evidence="Good-bye.", cascade=False))
    chosen = ("--option", "domain=retail", "--sample", "retail-test-0", "--out", "o", "--yes")
    made = cli("eval", "run", "tau-bench", "--method", "react", *chosen)
    assert made.code == 0, made.err
    before = len(server.requests)
    again = ("--rerun", "--environment", "o", "--max-reruns", "1")
    done = cli("debug", "o/trajectories", "--failed", *again, "--json")
    (run,) = done.json["runs"]
    assert server.names[before:].count("CustomerReply") == 3
    assert run["usage"]["calls"] == len(server.requests) - before
