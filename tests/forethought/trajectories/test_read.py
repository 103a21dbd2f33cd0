"""Files, folders and JSON of every kind: read, or refused in one line that says what to do."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.log import EvalLog, write_eval_log

from forethought.trajectories.read import all_from_json, from_json, read_trajectories
from forethought.trajectories.types import Loaded
from tests.forethought.trajectories import chat_examples, step_examples

LOG = """Question: {q}
Thought 1: hm
Action 1: Finish[{a}]
Observation 1: Answer is INCORRECT
Correct answer: GOLD
"""
CHAT = [{"role": "user", "content": "Do it"}, {"role": "assistant", "content": "done"}]


def put(path: Path, content: str | bytes | object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_folder_gives_all_of_its_files_each_run_once_and_links_are_followed(tmp_path):
    put(tmp_path / "real" / "a.txt", LOG.format(q="One?", a="1") + "\n" + LOG.format(q="Two?", a="2"))
    folder = tmp_path / "folder"
    put(folder / "deep" / "chat.json", CHAT)
    put(folder / "README.txt", "Question marks are nothing to a reader.")
    put(folder / "agents.joblib", b"\x80\x04")
    put(folder / ".hidden" / "x.json", "{")
    put(folder / "b.txt", LOG.format(q="Two?", a="2"))
    (folder / "a.txt").symlink_to(tmp_path / "real" / "a.txt")
    found = read_trajectories(folder)
    assert [loaded.trajectory.task for loaded in found] == ["One?", "Two?", "Do it"]


def test_a_folder_of_logs_of_every_kind_names_what_it_passes_over(tmp_path, caplog):
    spec = {"created": "2026-01-01", "model": "m", "dataset": {}, "config": {}, "task": "parcels"}
    log = EvalLog.model_validate({**chat_examples.INSPECT, "eval": spec})
    write_eval_log(log, str(tmp_path / "a.eval"))
    put(tmp_path / "b" / "repo-1.traj", chat_examples.SWE_AGENT)
    put(tmp_path / "c.traj.json", chat_examples.MINI_SWE)
    put(tmp_path / "config.json", {"temperature": 0})
    put(tmp_path / "588_DFS.json", step_examples.DFS)
    put(tmp_path / "half.json", '{"task": ')
    found = {loaded.trajectory.source: loaded.trajectory for loaded in read_trajectories(tmp_path)}
    assert set(found) == {"inspect", "swe_agent", "mini_swe_agent", "stable_tool_bench"}
    assert found["inspect"].instructions == chat_examples.SYSTEM
    own = [each.getMessage() for each in caplog.records if each.name.startswith("forethought.")]
    assert own[0].startswith(f"skipped: {tmp_path / 'half.json'}: broken JSON (")
    assert own[1:] == [f"{tmp_path}: skipped, in no known format: config.json"]


def test_the_folder_of_an_evaluation_gives_each_of_its_runs_once(tmp_path, caplog):
    put(tmp_path / "trajectories" / "react" / "cats--1.json", CHAT)
    put(tmp_path / "results.jsonl", {"method": "react", "sample": "cats"})
    put(tmp_path / "run.json", {"benchmark": "tiny"})
    put(tmp_path / "learned" / "samule.json", {"usage": {}})
    spec = {"created": "2026-01-01", "model": "m", "dataset": {}, "config": {}, "task": "parcels"}
    (tmp_path / "logs").mkdir()
    write_eval_log(
        EvalLog.model_validate({**chat_examples.INSPECT, "eval": spec}), str(tmp_path / "logs" / "a.eval")
    )
    (loaded,) = read_trajectories(tmp_path)
    assert loaded.trajectory.task == "Do it"
    assert [each.getMessage() for each in caplog.records if each.name.startswith("forethought.")] == []


def test_a_folder_of_results_of_tau2_is_read_with_its_simulations(tmp_path):
    results, (simulation,) = dict(chat_examples.TAU2), chat_examples.TAU2["simulations"]
    del results["simulations"]
    put(tmp_path / "results.json", results)
    put(tmp_path / "simulations" / "s1.json", simulation)
    put(tmp_path / "simulations" / "s2.json", {**simulation, "id": "s2", "trial": 1})
    whole = from_json({**results, "simulations": [simulation]})
    for path in (tmp_path, tmp_path / "results.json"):
        first, second = read_trajectories(path)
        assert (first, second.trajectory.id) == (whole, "s2")


def test_an_archive_that_is_no_log_of_inspect_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.eval: unreadable inspect log"):
        read_trajectories(put(tmp_path / "a.eval", "no archive"))


def test_a_log_of_inspect_says_which_extra_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(ValueError, match=r"pip install .*\[evals\]"):
        read_trajectories(put(tmp_path / "a.eval", "any"))


def test_different_trajectories_with_one_name_are_told_apart(tmp_path):
    put(tmp_path / "a" / "chat.json", CHAT)
    put(tmp_path / "b" / "chat.json", [*CHAT, {"role": "assistant", "content": "more"}])
    assert [loaded.trajectory.id for loaded in read_trajectories(tmp_path)] == ["chat", "chat~2"]


def test_zero_steps_and_megabytes_in_one_observation_are_read(tmp_path):
    assert from_json([CHAT[0]]).trajectory.steps == ()
    assert from_json({"task": "x", "steps": []}).trajectory.steps == ()
    big = [*CHAT, {"role": "tool", "content": "y" * 3_000_000}]
    (step,) = read_trajectories(put(tmp_path / "big.json", big))[0].trajectory.steps
    assert len(step.observation) == 3_000_000


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", " \n", "broken JSON"),
        ("a.json", '{"weather": "fine"}', "Known formats.*ReAct log"),
        ("a.json", "[]", "Known formats"),
        ("a.json", "3", "Known formats"),
        ("a.jsonl", '{"task": "x", "steps": []}\n{"weather": "fine"}', "item 2: .*an object with weather"),
        ("a.json", "[" * 100_000, "nested|broken"),
        ("a.json", '{"task": "x", "steps": [{"number": 0}]}', "greater than or equal to 1"),
        ("a.json", '{"task": "x", "steps": [{"number": 2}, {"number": 1}]}', "must increase"),
        ("a.json", '{"task": "x", "steps": [], "gold": "y"}', "gold.*correct it"),
        ("a.json", '{"trajectory": {"steps": []}}', r"trajectory\.task: field required; correct it"),
        ("a.json", '{"trajectory": {"task": "x", "steps": [{"n": 1}]}}', r"steps\.0\.number: field required"),
        ("a.txt", "Dear diary", r"\(text\); .* Known formats: ReAct log \([^)]*\)$"),
        ("a.log", "[10:00] started", r"\(text\)"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, name, content, reason):
    path = put(tmp_path / name, content)
    with pytest.raises(ValueError, match=reason) as refused:
        read_trajectories(path)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(str(path))


def test_a_text_log_that_begins_with_a_bracket_stops_no_folder(tmp_path):
    put(tmp_path / "app.log", "[2026-01-01 10:00] INFO started")
    put(tmp_path / "chat.txt", CHAT)
    assert len(read_trajectories(tmp_path)) == 1


def test_a_run_without_steps_is_one_even_where_its_defaults_are_left_out():
    assert from_json({"trajectory": {"id": "a", "task": "x"}}).trajectory.task == "x"


def test_paths_that_lead_nowhere_and_folders_without_trajectories(tmp_path):
    with pytest.raises(ValueError, match="check the path"):
        read_trajectories(tmp_path / "none.json")
    with pytest.raises(ValueError, match="this folder has no files that end in"):
        read_trajectories(tmp_path)
    with pytest.raises(ValueError, match="there are 2 runs: choose from trajectory-1, trajectory-2"):
        from_json([CHAT, CHAT])


KEYS = re.findall(
    r"\w+",
    """role type content tool_calls function name arguments messages traj metadata chat_history task steps
    number trajectory progress n id reward info choices message error plan subtasks shown draft
    function_call run_type inputs outputs child_runs observations traceId resourceSpans scopeSpans spans
    attributes key samples eval history intermediate_steps input output kind parts lc kwargs data simulations
    args tools scores attachments extra actions feedback_stats""",
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "odd", ""])},
        optional={"content": json_values, "tool_calls": json_values, "function_call": json_values},
    ),
    max_size=6,
)
states = st.fixed_dictionaries(
    {"task": json_values, "progress": st.dictionaries(st.sampled_from(["task", "stopped"]), json_values)},
    optional={
        "trajectory": st.lists(st.fixed_dictionaries({"n": st.integers(-1, 5)}), max_size=4),
        "answer": json_values,
        "plan": json_values,
        "results": json_values,
    },
)


def read_or_refused(value: object) -> list[Loaded]:
    """What `value` is read as: nothing where it is refused, which must be in one line."""
    try:
        return all_from_json(value)
    except ValueError as error:
        refusal = str(error)
    assert refusal
    assert "\n" not in refusal
    return []


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(json_values, messages, states, st.builds(lambda m: {"metadata": {}, "messages": m}, messages))
)
def test_whatever_json_comes_only_a_one_line_value_error_is_raised(value):
    for loaded in read_or_refused(value):
        trajectory = loaded.trajectory
        assert type(trajectory).model_validate_json(trajectory.model_dump_json()) == trajectory


log_lines = st.lists(
    st.sampled_from(["Question: q", "Thought 1: t", "Action 1: A[b]", "Observation 1: o", "Thought 2: x"])
    | st.sampled_from(["Answer is CORRECT", "Correct answer: GOLD", "Observation 1: Answer is INCORRECT", ""])
    | st.sampled_from(["----- BEGIN HALTED AGENTS -----", "BEGIN TRIAL 3", "##########", "Reflections:"])
    | st.text(max_size=8),
    max_size=25,
)


@settings(max_examples=100, deadline=None)
@given(log_lines, st.sampled_from(["\n", "\r\n"]))
def test_no_line_of_a_log_brings_the_verdict_or_the_gold_answer_into_a_trajectory(lines, end):
    for loaded in read_or_refused(end.join(["Question: first", "Thought 1: t", *lines])):
        dumped = loaded.trajectory.model_dump_json()
        assert "GOLD" not in dumped
        assert "Answer is" not in dumped
