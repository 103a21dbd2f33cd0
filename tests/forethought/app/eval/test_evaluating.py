"""`forethought eval run` and `list`: scores, records, estimate, caps and refused options."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from forethought.app.eval.commands import EvalOptions
from forethought.app.eval.plan import plan_evaluation
from forethought.evals import registry
from forethought.evals.harness.folder import RunFolder
from forethought.evals.results import read_evaluation
from forethought.evals.types import Attempt, Sample, TrialContext
from forethought.extras import install_command
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.web_search import EngineFailed
from forethought.trajectories.read import read_trajectories
from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import Counting, Start, command, lines, write_data
from tests.support.model_server import Fault, SeenRequest
from tests.support.tiny_benchmark import LEARNS, NAME, ONCE, TWICE, Asks, Tiny

IDS = ("cats", "dogs", "owls", "bees")


@pytest.fixture(autouse=True)
def data(tmp_path: Path) -> None:
    """The benchmark's data, in `data`."""
    write_data(tmp_path / "data", *IDS)


def test_every_trial_is_scored_kept_and_logged_in_the_folder_alone(
    cli: Cli, counting: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.log import read_eval_log

    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    server = counting(Counting())
    out = cli(*command("--trials", "2", "--yes", "--json", method=f"{ONCE},{TWICE}"))
    assert out.code == 0, out.err
    assert (out.json["status"], out.json["failed"], out.json["cost"]["runs"]) == ("finished", {}, 16)
    assert out.json["estimate"]["tokens"] == out.json["cost"]["tokens"] == 120 * len(server.requests)
    assert {row["method"]: row["main"]["mean"] for row in out.json["rows"]} == {"once": 0.5, "twice": 0.5}
    found = {(line["method"], line["sample"], line["trial"]): line for line in lines()}
    assert len(found) == len(lines()) == 16
    one = found["twice", "cats", 2]
    assert (one["score"], one["values"], one["label"]) == (1.0, {"right": 1.0, "length": 2.0}, "right")
    assert (one["usage"]["calls"], one["usage"]["input_tokens"], one["usage"]["unpriced"]) == (2, 200, 2)
    assert (one["groups"], one["floor"]) == ({"size": "small"}, 0.0)
    kept = read_trajectories(Path("o") / one["trajectory"])[0]
    assert (kept.trajectory.answer, kept.reference.outcome) == ("42", "success")
    assert (Path("o/table.md").exists(), Path("o/results.json").exists()) == (True, True)

    logs = [read_eval_log(str(path)) for path in sorted(Path("o/logs").glob("*.eval"))]
    assert {log.status for log in logs} == {"success"}
    samples = [(log.eval.task, s.id, s.epoch, s) for log in logs for s in log.samples or ()]
    assert len(samples) == 16
    assert all(
        sample.scores["judged"].value == found[task.removeprefix("tiny-"), str(id), epoch]["score"]
        for task, id, epoch, sample in samples
    )
    usage = [log.stats.model_usage["forethought/openai:scripted"] for log in logs]
    assert sum(one.total_tokens for one in usage) == 120 * len(server.requests)
    assert {path.name for path in tmp_path.iterdir()} <= {"data", "o"}, "inspect writes nowhere else"


def test_a_failure_of_the_infrastructure_is_no_zero_and_is_tried_again(
    cli: Cli, counting: Start, tmp_path: Path
) -> None:
    write_data(tmp_path / "data", "cats", "owls", "nowhere", "dogs")
    down = {"now": True}

    def fault(seen: SeenRequest) -> Fault | None:
        return Fault("503") if down["now"] and "owls" in seen.text else None

    policy = Counting(fault=fault)
    counting(policy)
    given = command("--yes", "--sample", "cats,owls,nowhere,dogs")
    out = cli(*given, "--json")
    assert (out.code, out.json["status"], out.json["open"]) == (3, "incomplete", 2)
    assert out.json["failed"]["once--nowhere--1"] == "there is no server for nowhere"
    assert "503" in out.json["failed"]["once--owls--1"]
    (row,) = out.json["rows"]
    assert (row["main"]["mean"], row["samples"], row["infrastructure_failures"]) == (0.5, 2, 2)
    failed = {line["sample"]: line for line in lines() if line["score"] is None}
    assert set(failed) == {"owls", "nowhere"}
    assert failed["owls"]["usage"]["calls"] == 1

    down["now"] = False
    policy.asked.clear()
    again = cli(*given, "--json")
    assert (again.code, list(again.json["failed"])) == (3, ["once--nowhere--1"])
    assert policy.asked == Counter({"owls": 1})
    assert len(read_evaluation(Path("o")).results) == 4


@pytest.mark.parametrize(
    ("fault", "up", "code", "requests", "message"),
    [
        (Fault("503"), 2, 1, 5, "gave no reply"),
        (Fault("401", message="bad key"), 0, 2, 1, "the key was refused"),
    ],
    ids=["three in a row", "wrong key"],
)
def test_what_would_fail_every_sample_stops_it(
    cli: Cli, counting: Start, fault: Fault, up: int, code: int, requests: int, message: str
) -> None:
    server = counting(Counting(fault=lambda seen: fault if seen.n > up else None))
    out = cli(*command("--yes", "--trials", "5", "--parallel", "1", "--fail-after", "3"))
    assert (out.code, len(server.requests)) == (code, requests)
    assert message in out.err
    assert "internal" not in out.err
    assert lines()[-1]["score"] is None


def test_an_answer_that_cannot_be_used_is_a_task_failure(cli: Cli, counting: Start) -> None:
    counting(Counting(fault=lambda seen: Fault("empty") if "cats" in seen.text else None))
    out = cli(*command("--yes", "--json"))
    assert (out.code, out.json["failed"]) == (0, {})
    (cats,) = [line for line in lines() if line["sample"] == "cats"]
    assert (cats["score"], cats["status"], cats["usage"]["calls"]) == (0.0, "failed", 3)


def test_no_call_begins_past_the_budget(cli: Cli, counting: Start) -> None:
    server = counting(Counting(tokens=1_500))
    out = cli(*command("--yes", "--limit", "1", "--tokens", "1000", "--json", method=TWICE))
    assert (out.code, len(server.requests)) == (0, 1), out.err
    assert (lines()[0]["score"], lines()[0]["status"]) == (0.0, "budget_exhausted")
    assert lines()[0]["usage"]["input_tokens"] == 1_500


def test_a_sample_that_takes_too_long_was_not_tried(cli: Cli, counting: Start) -> None:
    counting(Counting(fault=lambda seen: Fault("hang") if "dogs" in seen.text else None))
    out = cli(*command("--yes", "--sample", "cats,dogs", "--seconds", "2", "--json"))
    assert (out.code, out.json["failed"]) == (3, {"once--dogs--1": "the sample used more than 2 seconds"})


def test_the_estimate_is_asked_about_and_the_cap_holds(cli: Cli, counting: Start) -> None:
    server = counting(Counting())
    first = cli(*command("--trials", "3", "--json"))
    assert (first.code, first.json["status"], len(server.requests)) == (4, "waits", 1)
    assert (first.json["estimate"]["runs"], first.json["estimate"]["tokens"]) == (12, 1440)
    assert "repeat the command with --yes" in first.err
    capped = cli(*command("--trials", "3", "--yes", "--parallel", "1", "--max-tokens-total", "500", "--json"))
    assert (capped.code, capped.json["status"], capped.json["capped"]) == (3, "incomplete", True)
    assert (len(server.requests), capped.json["cost"]["tokens"]) == (5, 600)
    rest = cli(*command("--trials", "3", "--yes", "--json"))
    assert (rest.code, rest.json["status"], len(server.requests)) == (0, "finished", 12)


def test_more_samples_trials_and_methods_may_be_added(cli: Cli, counting: Start) -> None:
    policy = Counting()
    counting(policy)
    assert cli(*command("--yes", "--limit", "2")).code == 0
    drawn = set(policy.asked)
    assert cli(*command("--yes", "--limit", "3", "--trials", "2", method=f"{ONCE},{TWICE}")).code == 0
    assert drawn < set(policy.asked)
    assert set(policy.asked.values()) == {2 + 4}
    assert len(lines()) == 12
    assert json.loads(Path("o/run.json").read_text())["methods"] == ["once", "twice"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--model", "openai:other"), "has an evaluation with model"),
        (("--tokens", "5000"), "has an evaluation with budget"),
        (("--option", "judge=model"), "has an evaluation with options"),
        (("--set", "max_rounds=2"), "has an evaluation with context"),
    ],
    ids=lambda value: value[0].strip("-") if isinstance(value, tuple) else "",
)
def test_other_choices_are_refused(
    cli: Cli, counting: Start, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    server = counting(Counting())
    options = EvalOptions(name=NAME, method=ONCE, data=tmp_path / "data")
    RunFolder(tmp_path / "o").open(plan_evaluation(options)[1])
    before = (tmp_path / "o" / "run.json").read_bytes()
    out = cli(*command("--yes", *more))
    assert (out.code, server.requests) == (2, [])
    assert message in out.err
    assert out.err.count("\n") == 1
    assert (tmp_path / "o" / "run.json").read_bytes() == before


def test_another_text_under_the_same_id_is_refused(
    cli: Cli, counting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting(Counting())
    assert cli(*command("--limit", "2")).code == 4
    monkeypatch.setattr("tests.support.tiny_benchmark.QUESTION", "Count all the")
    out = cli(*command("--limit", "2", "--yes"))
    assert out.code == 2
    assert "has changed since its trial" in out.err


def test_a_method_is_given_no_target_and_nothing_of_the_world_s_making(
    cli: Cli, counting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting(Counting())
    run, seen = Asks.run, list[Sample]()

    async def watched(self: Asks, workshop: TrialContext) -> Attempt:
        seen.append(workshop.sample)
        return await run(self, workshop)

    monkeypatch.setattr(Asks, "run", watched)
    assert cli(*command("--yes", "--sample", "cats")).code == 0
    assert seen == [Sample("cats", "Count the cats.")]
    assert (lines()[0]["score"], lines()[0]["groups"]) == (1.0, {"size": "small"})


def test_a_sample_whose_searches_all_failed_was_not_tried(
    cli: Cli, counting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(query: str, settings: object) -> list[object]:
        raise EngineFailed("connection refused")

    counting(Counting())
    run = Asks.run

    async def searching(self: Asks, workshop: TrialContext) -> Attempt:
        await call_tool(workshop.tools["web_search"], {"query": "x"}, ToolEnv(settings=workshop.settings))
        return await run(self, workshop)

    monkeypatch.setattr(Tiny, "builtin_tools", ("web_search",))
    monkeypatch.setattr("forethought.tools.web_search._ddgs", down)
    monkeypatch.setattr(Asks, "run", searching)
    out = cli(*command("--yes", "--sample", "cats"))
    assert out.code == 1
    assert "the search failed: ddgs (connection refused) did not answer" in out.err
    assert lines()[0]["score"] is None


def test_judges_are_paid_for_apart(cli: Cli, counting: Start) -> None:
    server = counting(Counting())
    out = cli(*command("--yes", "--option", "judge=model", "--judge-model", "openai:judge", "--limit", "2"))
    assert out.code == 0, out.err
    assert all(line["score"] == 1 and line["judge_usage"]["input_tokens"] == 7 for line in lines())
    assert all(line["usage"]["calls"] == 1 for line in lines())
    assert Counter(seen.body["model"] for seen in server.requests) == {"scripted": 2, "judge": 2}


def test_a_method_learns_once_from_samples_that_are_not_evaluated(cli: Cli, counting: Start) -> None:
    policy = Counting()
    server = counting(policy)
    given = command("--yes", "--limit", "2", "--train", "2", method=f"{ONCE},{LEARNS}")
    assert cli(*given).code == 0
    evaluated = {line["sample"] for line in lines()}
    learned = json.loads(Path("o/learned/learns.json").read_text())
    assert set(learned["samples"]) == set(IDS) - evaluated
    assert learned["learned"]["right"] == len({"cats", "owls"} & set(learned["samples"]))
    shown = [seen.messages[0][1] for seen in server.requests if "right" in seen.messages[0][1]]
    assert len(shown) == 2
    assert all(json.dumps(learned["learned"]) in text for text in shown)
    assert cli(*given, "--trials", "2").code == 0
    assert all(policy.asked[id] == 1 for id in learned["samples"])
    out = cli(*command("--yes", "--limit", "2", "--train", "1", method=f"{ONCE},{LEARNS}"))
    assert (out.code, "learned from other samples: repeat its --train" in out.err) == (2, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("eval", "run", "gaja"), "unknown benchmark 'gaja'; did you mean gaia? There are: gaia, simpleqa"),
        (("eval", "run", "no_such_module:B"), "name it as MODULE:OBJECT"),
        (command(method="rect"), "unknown method 'rect'; did you mean react? There are: ours"),
        (command("--sample", "cows"), "--sample cows: there is no such sample; choose from cats"),
        (command("--option", "splitt=x"), "tiny has no such option; choose from: judge"),
        (command("--data", "elsewhere"), "elsewhere/test.jsonl is not there: write it"),
        (command("--set", "max_steps=3"), "every method has the same budget; use --steps"),
        (command("--train", "9", method=LEARNS), "--train 9: only 0 samples are free for training"),
        (command("--steps", "2001", method="ours"), "--steps 2001 is more than the agent allows"),
        (command("--max-usd", "1"), "no price is known for openai:scripted; use --max-tokens-total"),
        (command("--seconds", "inf"), "Invalid value for '--seconds'"),
        (command(method="json:loads"), "json:loads is not a method"),
    ],
    ids=lambda value: "",
)
def test_wrong_use_is_one_line_and_leaves_nothing(
    cli: Cli, counting: Start, given: tuple[str, ...], message: str
) -> None:
    server = counting(Counting())
    out = cli(*given)
    assert (out.code, server.requests) == (2, [])
    assert message in out.err
    assert out.err.count("\n") == 1
    assert not Path("o").exists()


def test_list_tells_where_data_is_and_where_to_get_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(tmp_path / "tiny", *IDS)
    monkeypatch.setenv("FORETHOUGHT_EVALS_DIR", str(tmp_path))
    monkeypatch.setattr(registry, "BENCHMARKS", {"tiny": NAME, "other": NAME, "gone": "no_such:B"})
    told = cli("eval", "list", "--json").json
    tiny, other, gone = told["benchmarks"]
    assert (tiny["samples"], tiny["missing"], tiny["title"]) == (4, "", "Tiny benchmark")
    assert (other["samples"], "other/test.jsonl is not there" in other["missing"]) == (0, True)
    assert "no_such" in gone["missing"]
    names = [item["name"] for item in told["methods"]]
    assert names == registry.method_names()
    assert "4 samples in" in cli("eval", "list").out


def test_without_the_extra_it_says_what_to_install(
    cli: Cli, counting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting(Counting())
    monkeypatch.setattr("forethought.app.eval.commands.find_spec", lambda name: None)
    out = cli(*command("--yes"))
    assert (out.code, install_command("evals") in out.err) == (2, True)


def test_no_secret_is_written(cli: Cli, counting: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("FORETHOUGHT_API_KEY", secret)
    counting(
        Counting(fault=lambda seen: Fault("400", message=f"bad {secret}") if "owls" in seen.text else None)
    )
    assert cli(*command("--yes", "--sample", "cats,owls")).code == 3
    files = [path for path in Path("o").rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in files if path.suffix != ".eval"]
    for path in files:
        if path.suffix == ".eval":
            with zipfile.ZipFile(path) as archive:
                texts += [archive.read(name) for name in archive.namelist()]
    assert len(texts) > 8
    assert not [text for text in texts if secret.encode() in text]


def test_what_simulated_users_cost_has_a_backstop(
    cli: Cli, counting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = counting(Counting())
    monkeypatch.setattr("forethought.evals.harness.tasks.BACKSTOP", 0.15)
    out = cli(*command("--yes", "--limit", "1", "--tokens", "1000", "--json", method=TWICE))
    assert (out.code, len(server.requests)) == (1, 2)
    assert "the sample used more than 150 tokens (judges and" in out.err
    assert lines()[0]["score"] is None


def test_what_nobody_here_can_score_is_kept_and_not_tried_again(cli: Cli, counting: Start) -> None:
    server = counting(Counting())
    given = command("--yes", "--limit", "3", "--fail-after", "1", "--option", "judge=nobody", "--json")
    out = cli(*given)
    assert (out.code, out.json["status"], out.json["failed"]) == (0, "finished", {}), out.err
    assert [(line["score"], line["label"], line["status"]) for line in lines()] == [
        (None, "unscored", "answered")
    ] * 3
    assert {line["answer"] for line in lines()} <= {"42", "1"}
    assert all(Path("o", line["trajectory"]).exists() for line in lines())
    (row,) = out.json["rows"]
    assert (row["unscored"], row["infrastructure_failures"]) == (3, 0)
    assert cli(*given).code == 0
    assert len(server.requests) == 3
