"""chat: turns of one thread, typed at a prompt; what was said can be looked at, taken back, gone on with."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from forethought.app.runner import Runner
from tests.forethought.app.conftest import Cli, Outcome
from tests.support.model_server import SeenRequest

Scripted = Callable[..., Any]
Talk = Callable[..., Outcome]


@pytest.fixture
def talk(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Type these keys into a chat: talk("hello\r", "/exit\r", thread="t1")."""
    monkeypatch.setattr(Runner, "interactive", True)
    monkeypatch.setenv("FORETHOUGHT_EFFORT", "low")

    def typed(*keys: str, flags: tuple[str, ...] = (), thread: str = "t1") -> Outcome:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text("".join((*keys, "\x04" * 8)))  # whoever still reads is left alone
            return cli("chat", "--thread", thread, *flags)

    return typed


def tasks(cli: Cli, thread: str = "t1") -> str:
    """What was asked in the thread, newest last, as `show` tells it."""
    return cli("show", thread).out


def test_a_conversation_keeps_its_thread_its_files_and_its_model(
    cli: Cli, talk: Talk, scripted: Scripted, tmp_path: Path
) -> None:
    _, server = scripted()
    (tmp_path / "a note.txt").write_text("Seven rooms.")
    (tmp_path / "b.txt").write_text("Two floors.")
    said = talk(
        "What is\x1b\r40 + 2?\n", "/files 'a note.txt' b.*\r", "/set model=openai:other max_steps=5\r",
        "And 6 * 7?\r", "/files\r", "/plan\r", "/why\r", "/cost\r", "/help\r", "\r", "/exit\r",
    )  # fmt: skip
    assert said.code == 0, said
    assert said.out.count("Answer") == 2
    assert "a note.txt (12 bytes)\nb.txt (11 bytes)\n" in said.out
    assert {"model=openai:other", "max_steps=5"} <= set(said.out.splitlines())
    assert "#5 multiply" in said.out, "the steps behind the answer"
    assert "skipped" not in said.out, "no answer rests on what was left out"
    assert "this session:" in said.out
    assert "/undo    Undo the last turn" in said.out
    assert said.err.endswith("continue with: forethought chat --thread t1\n")
    models = [seen.body["model"] for seen in server.requests]
    assert {models[0], models[-1]} == {"scripted", "other"}
    assert "What is\n40 + 2?" in server.requests[-1].text
    assert "Two floors." in server.requests[-1].text

    again = talk("/exit\r")
    assert "thread t1  openai:other at http" in again.out
    assert "> And 6 * 7?" in again.out


def test_what_is_remembered_in_a_chat_holds_in_a_new_thread(cli: Cli, talk: Talk, scripted: Scripted) -> None:
    _, server = scripted()
    said = talk("/remember\r", "/remember round up each product\r", "What is 6 * 7 in products?\r", "/exit\r")
    assert "say what to remember: /remember RULE" in said.out
    assert "remembered as units_of_sums: In sums, round up each product" in said.out
    assert "Applied your correction: units_of_sums" in said.out
    ran = cli("run", "Which products and sums have a unit?", "--json").json
    assert [one["name"] for one in ran["experience"]["shown"]] == ["units_of_sums"]
    assert "[a1] In sums, round up each product" in server.requests[-1].text
    assert cli("run", "Which colour has the sky?", "--json").json.get("experience") is None
    talk("/remember round down each product\r", "/exit\r", thread="t2")
    new, old = cli("experience", "list", "--json").json
    assert old["shown"] == 2
    assert (old["state"], old["replaced_by"], old["helped"]) == ("replaced", new["id"], 2)


def test_on_a_screen_the_model_is_made_to_stream_and_the_answer_is_rendered(
    talk: Talk, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, server = scripted()
    script.answer = "It is **42**."
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = talk("What is 40 + 2?\r", "/exit\r")
    assert "\x1b[1m42\x1b[0m" in said.out
    assert server.requests[-1].body["stream"]


def test_a_turn_is_taken_back_and_the_first_one_leaves_an_empty_thread(
    cli: Cli, talk: Talk, scripted: Scripted
) -> None:
    script, server = scripted()
    script.answer = "first answer"
    assert "\nthere is no turn yet: send a task first\n" in talk("/undo\r", "One?\r", "\x04").out
    before = cli("show", "t1", "--json").json
    talk("Two?\r", "/undo\r", "/exit\r")
    assert cli("show", "t1", "--json").json == before, "plan, steps, cost and all"
    script.answer = "second answer"
    back = talk("Two?\r", "/undo\r", "Three?\r", "/exit\r")
    assert "the last turn is undone; the one before it:\n> One?" in back.out
    assert "One?" in server.requests[-1].text
    assert "Two?" not in server.requests[-1].text
    assert tasks(cli).count("earlier task:") == 1
    assert "earlier task: One? → first answer" in tasks(cli)
    emptied = talk("/undo\r", "/undo\r", "/why\r", "/exit\r")
    assert "the first turn is undone; new thread: 20" in emptied.out
    assert "there is no turn yet: send a task first" in emptied.out


def test_questions_are_answered_in_place_or_left_and_asked_again(
    cli: Cli, talk: Talk, scripted: Scripted
) -> None:
    _, server = scripted(question="Which colour?")
    said = talk("What is it?\r", "\x04", "/resume\r", "\x04", "/exit\r", flags=("--set", "approve_plan=true"))
    assert "the run waits for your reply:" in said.err, said
    assert "Approve this plan?" in said.out
    said = talk("/resume\r", "sure\r", "y\r", "red\r", "/exit\r")
    assert said.out.count("Approve this plan?") == 1
    assert "write approve, reject, edit, or yes or no" in said.out
    assert "Which colour?" in said.out, said
    assert any("red" in seen.last for seen in server.requests if seen.reply_name == "AnswerDraft")


def test_ctrl_c_stops_the_turn_and_twice_leaves(cli: Cli, talk: Talk, scripted: Scripted) -> None:
    script, _ = scripted()
    hold, sent = threading.Event(), []

    def stop(seen: SeenRequest) -> None:
        if seen.reply_name == "AnswerDraft" and not sent:
            sent.append(os.kill(os.getpid(), signal.SIGINT))
            hold.wait(30)

    script.fault = stop
    said = talk("What is 40 + 2?\r", "\x03")
    hold.set()
    assert said.code == 130, said
    assert "\ninterrupted; /resume continues it; press Ctrl-C again to leave\n" in said.out
    said = talk("/resume\r", "\x03", "half a word\x03")
    assert "the last turn is not finished: /resume continues it" in said.out
    assert (said.code, "42" in said.out, "press Ctrl-C again to leave\n" in said.out) == (130, True, True)


def test_after_a_stop_another_message_takes_the_turn_s_place(
    cli: Cli, talk: Talk, scripted: Scripted
) -> None:
    script, _ = scripted()
    sent: list[int] = []

    def stop(seen: SeenRequest) -> None:
        if seen.reply_name == "AnswerDraft" and not sent:
            sent.append(seen.n)
            os.kill(os.getpid(), signal.SIGINT)

    script.fault = stop
    said = talk("Stopped?\r", "Another?\r", "/exit\r")
    assert (said.code, said.out.count("Answer")) == (0, 1), said
    assert "task: Another?" in tasks(cli)
    assert "earlier task" not in tasks(cli)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("/nothing", "unknown command /nothing; /help lists the commands"),
        ("/undo 3", "/undo takes no argument: send it without '3'"),
        ("/plan", "there is no turn yet: send a task first"),
        ("/resume", "there is no turn yet: send a task first"),
        ("/files no.txt", "no.txt: no such file"),
        ("/files 'no", "'no: No closing quotation"),
        ("/set max_steps", "\nmax_steps: write KEY=VALUE"),
        ("/set max_stops=3", "max_stops"),
        ("/set model='no model'", "\nmodel is 'no model'"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line_and_the_chat_goes_on(
    talk: Talk, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, typed: str, message: str
) -> None:
    _, server = scripted()
    said = talk(f"{typed}\r", "/exit\r")
    assert (said.code, said.err, message in said.out) == (0, "", True), said
    assert server.requests == []


def test_a_failed_turn_leaves_the_chat_and_can_be_gone_on_with(talk: Talk, scripted: Scripted) -> None:
    from tests.support.model_server import Fault

    script, _ = scripted()
    script.fault = lambda seen: Fault(500)
    failed = talk("What is 40 + 2?\r", "quit\r")
    assert (failed.code, "progress is saved; /resume continues it" in failed.err) == (0, True), failed
    script.fault = lambda seen: None
    gone_on = talk("/resume\r", "/resume\r", "/exit\r")
    assert "42" in gone_on.out
    assert "nothing to resume: the last turn is finished" in gone_on.out


def test_without_a_terminal_or_a_model_one_line_says_what_to_do(
    cli: Cli, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = talk("/exit\r", flags=("--model", "openai:gpt-4.1"))
    assert (said.code, "needs a key" in said.err) == (2, True)
    monkeypatch.setattr(Runner, "interactive", False)
    said = cli("chat")
    assert (said.code, "chat needs a terminal" in said.err) == (2, True)
    assert "--json" not in cli("chat", "--help").out
    listed = cli("--help").out
    assert ("..." in listed.split("Commands:")[1], listed.index("  chat ") < listed.index("  collect ")) == (
        False,
        True,
    )


def test_the_history_is_kept_unless_threads_are_encrypted(
    talk: Talk, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    talk("/plan\r", "/exit\r")
    file = tmp_path / "data" / "chat_history"
    assert ("+/plan" in file.read_text(), file.stat().st_mode & 0o777) == (True, 0o600)
    file.unlink()
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", "00" * 32)
    talk("/help\r", "/exit\r", thread="t2")
    assert not file.exists()


def test_a_wrong_answer_is_corrected_for_this_and_all_later_tasks(
    cli: Cli, talk: Talk, scripted: Scripted
) -> None:
    _, server = scripted()
    words = "Orders that were cancelled never count."
    said = talk("What is 40 + 2?\r", f"/wrong {words}\r", "/wrong\r", "/exit\r")
    assert said.out.count("Answer") == 2, "the task is answered again"
    assert "say what is wrong: /wrong WHY" in said.out
    assert "forethought learn t1" in said.out
    again = [seen for seen in server.requests if seen.reply_name == "Plan"][1]
    assert f"The person says: {words}" in again.text
    advice = cli("experience", "list", "--json").json
    assert [(one["instead"], one["state"], one["thread"], one["number"]) for one in advice] == [
        (words, "adopted", "t1", 1)
    ]
    assert cli("run", "Which orders count?", "--thread", "t2").code == 0
    last = [seen for seen in server.requests if seen.reply_name == "Plan"][-1]
    assert words in last.text, "another thread is shown it"
