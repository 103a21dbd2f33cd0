"""Redaction in a run: no declared secret reaches a model or the state, and no ordinary word is lost."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import messages_to_dict
from pydantic import SecretStr

from forethought.tools.base import Tool, make_tool
from tests.support.agent import Drive, Script, dump
from tests.support.replies import answer, call, plan, sub

SAID = "postgres is our database; its subtasks are in password123"
SECRETS = {
    "SESSION": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "ALERTS": "https://hooks.slack.com/services/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",
    "STORE": "DefaultEndpointsProtocol=https;AccountName=ann;AccountKey=Zt9aK3xw7Lq0+B5vRmN2c/8dEf==",
    "SALES": "Server=tcp:sales,1433;Database=x;User ID=ann;Password=Rm9aK3xw7Lq0;Encrypt=True",
    "SIGNED_BY": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
}
KEYS = ("dozjgNryP4J3jVmNHl0w5N", "9aK3xw7Lq0", "BADANBgkqhkiG9w0BAQEFAASC")
"""Parts of them that must be nowhere."""


def script() -> Script:
    """Read the file, save what it says."""
    save = call(tool="save") | {"arguments": {"text": SAID}}
    moves = {"read": [call(tool="read_file") | {"arguments": {"path": "notes.txt"}}], "save": [save]}
    return Script(plans=[plan(sub("read"), sub("save", ("read",)))], moves=moves, answers=[answer(SAID)])


def saver(file: Path) -> Tool:
    """A tool that writes a file."""

    def save(text: str) -> str:
        """Save a text.

        Args:
            text: What to save.
        """
        file.write_text(text)
        return f"saved: {text}"

    return make_tool(save, effect="write")


async def test_ordinary_words_survive_weak_secrets(
    drive: Drive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POSTGRES_PASSWORD", "postgres")
    monkeypatch.setenv("SOME_TOKEN", "subtasks")
    monkeypatch.setenv("FORETHOUGHT_SECRETS", "DATABASE")
    monkeypatch.setenv("DATABASE", "database")
    task = {"task": SAID, "files": [{"name": "notes.txt", "data": base64.b64encode(SAID.encode()).decode()}]}
    weak = {"api_key": SecretStr("password123")}
    out = await drive(
        script(), task=task, tools=[saver(tmp_path / "x.txt")], setting=weak, approve_tools="never"
    )
    assert (out.status, out.state["answer"]) == ("answered", SAID)
    assert (tmp_path / "x.txt").read_text() == SAID
    assert [step["observation"] for step in out.steps if SAID in step["observation"]] == [
        step["observation"] for step in out.steps
    ]
    assert all(SAID in seen.text and "[secret]" not in seen.text for seen in out.requests)


async def test_secrets_of_every_form_reach_no_model_and_no_state(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    said = "\n".join(f"{name}={value}" for name, value in SECRETS.items())

    def settings() -> dict[str, Any]:
        """All settings."""
        return {"as text": said, "each": SECRETS}

    asked = Script(
        moves={"a": [call(tool="settings") | {"arguments": {}}]},
        answers=[answer(f"they are {SECRETS['STORE']}")],
    )
    out = await drive(asked, task=f"Look at {SECRETS['SESSION']}", tools=[make_tool(settings)])
    assert out.status == "answered"
    assert "[secret]" in out.steps[0]["observation"]
    assert [key for key in KEYS if key in "".join(seen.text for seen in out.requests)] == []
    kept = dump(out.state) + str(messages_to_dict(out.state["messages"]))
    assert [key for key in KEYS[1:] if key in kept] == [], "the task alone is kept as it was written"
