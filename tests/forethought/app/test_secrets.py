"""Keys are nowhere but where they are needed: not in prompts, state, recordings, logs or errors, whatever
fails and whoever repeats them."""

from __future__ import annotations

import base64
import json
import logging
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.forethought.app.conftest import Cli
from tests.support.agent import Script
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest
from tests.support.replies import answer, call, grant, granting, plan, sub
from tests.support.web_server import Sent, WebServer

SECRETS = {
    "OPENAI_API_KEY": "sk-openai-Kx7q9/aa+1",
    "TAVILY_API_KEY": 'tvly-Zp3w8"quoted',
    "FORETHOUGHT_API_KEY": "fk-address-Jm5t2Kx7",
    "SOME_SERVICE_TOKEN": "tok-operator-Bd6u4Zp3w8",
}
TOOLS = '''
import logging
import os

KEYS = [value for name, value in sorted(os.environ.items()) if name.endswith(("_API_KEY", "_TOKEN"))]


def leak(how: str) -> str:
    """Leak.

    Args:
        how: How.
    """
    if how == "raise":
        raise RuntimeError(f"refused {KEYS}")
    if how == "refuse":
        from forethought.tools.base import ToolError

        raise ToolError(f"refused {KEYS[0]}", hint=f"send {KEYS[1]} instead")
    if how == "print":
        return " ".join(KEYS)
    return {key: {"nested": key} for key in KEYS}
'''


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """A server that sends back all it was told, as a page and as Tavily's refusal."""

    def repeat(asked: Any) -> Sent:
        said = f"{asked.headers} {asked.body!r} {' '.join(SECRETS.values())}"
        return Sent(f"<p>{said}</p>") if asked.path == "/page" else Sent(said, status=401)

    server = WebServer(repeat)
    monkeypatch.setattr("forethought.tools.web_search.TAVILY_URL", server.url)
    monkeypatch.setenv("FORETHOUGHT_ALLOWED_HOSTS", "127.0.0.1")
    yield server
    server.close()


Started = Callable[..., ModelServer]


@pytest.fixture
def start(model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch) -> Started:
    def begin(policy: Callable[[SeenRequest], Answer]) -> ModelServer:
        server = model_server(policy)
        # With a password in the address, too.
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url.replace("//", "//me:pw-address-Qe8r1Kx7q9@"))
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return server

    return begin


def forms() -> list[bytes]:
    """Each secret as it is, inside JSON, inside an address, and in base64."""
    found: list[bytes] = []
    for value in (*SECRETS.values(), "pw-address-Qe8r1Kx7q9"):
        coded = base64.b64encode(value.encode()).decode()
        found += [form.encode() for form in {value, json.dumps(value)[1:-1], quote(value, safe=""), coded}]
    return found


def search(**places: str | bytes) -> None:
    """Fail, naming the place, where a secret stands in one."""
    for place, text in places.items():
        data = text.encode() if isinstance(text, str) else text
        found = [form for form in forms() if form in data]
        assert not found, f"{found} in {place}"


def kept(folder: Path) -> dict[str, bytes]:
    """All that a run left on the disk: the databases with their logs and the recording; not the tools' module
    and the files that were given, which are the user's own."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "files"]
    return {path.name: path.read_bytes() for path in paths if path.name not in ("given.env", "leaky.py")}


def agent(echo: WebServer) -> Script:
    """Calls everything that leaks; one of its replies repeats the key that it was sent."""
    moves = {
        **{
            how: [call(tool="leak") | {"arguments": {"how": how}}]
            for how in ("raise", "refuse", "print", "json")
        },
        "page": [call(tool="visit_webpage") | {"arguments": {"url": f"{echo.url}/page"}}],
        "search": [call(tool="web_search") | {"arguments": {"query": "anything"}}],
        "file": [call(tool="read_file") | {"arguments": {"path": "given.env"}}],
        "code": [call(tool="python") | {"arguments": {"code": "print(files['given.env'])"}}],
        "blurt": lambda seen: (
            call(thought=f"my key is {seen.headers['authorization']}", tool="python")
            | {"arguments": {"code": f"print({seen.key!r}, {SECRETS['FORETHOUGHT_API_KEY']!r})"}}
        ),
    }
    return Script(
        plans=[plan(*(sub(key) for key in moves), evaluation=SECRETS["FORETHOUGHT_API_KEY"])],
        moves=moves,  # type: ignore[arg-type]
        answers=[answer(f"the key is {SECRETS['OPENAI_API_KEY']}")],
        grants=[granting(grant("visit_webpage", url=[f"{echo.url}/page"]))],
    )


@pytest.mark.usefixtures("keys")
def test_no_key_is_in_anything_that_a_run_sends_shows_or_keeps(
    cli: Cli, start: Started, echo: WebServer, tmp_path: Path, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "leaky.py").write_text(TOOLS)
    (tmp_path / "given.env").write_text("".join(f"{name}={value}\n" for name, value in SECRETS.items()))
    monkeypatch.syspath_prepend(tmp_path)
    server = start(agent(echo))
    caplog.set_level(logging.DEBUG, "forethought")
    line = (
        f"run 'do all, and open {echo.url}/page' --file given.env --tools leaky --thread t1 --json --debug "
        "--record run.jsonl --set replanning=false --set max_rounds=1"
    )
    done = cli(*shlex.split(line))
    steps = {step["subtask"]: step for step in reversed(done.json["steps"])}
    assert len(steps) == 9, done.err
    for how in ("raise", "print", "json", "page", "file", "code", "refuse"):
        assert "[secret]" in steps[how]["observation"], steps[how]
    assert steps["search"]["ok"] is False, "Tavily refused, and no other can be reached"
    search(stdout=done.out, stderr=done.err, log=caplog.text, **kept(tmp_path))
    for seen in server.requests:
        search(request=json.dumps(seen.body, ensure_ascii=False))
    shown = cli("show", "t1")
    search(show=shown.out + shown.err, again=cli("show", "t1", "--json").out)
    assert "tool leak failed" in caplog.text, "what went wrong is still told"


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("status", ["400", "401", "403", "404", "429", "500", "200"])
def test_a_provider_s_refusal_that_repeats_the_key_is_told_without_it(
    cli: Cli, start: Started, tmp_path: Path, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(seen: SeenRequest) -> Answer:
        said = f"Incorrect key {seen.headers.get('authorization')} {' '.join(SECRETS.values())}"
        return f"no JSON but {said}" if status == "200" else Fault(status, message=said)

    server = start(refuse)
    caplog.set_level(logging.DEBUG, "forethought")
    failed = cli("run", "do it", "--thread", "t1", "--record", "run.jsonl", "--debug", "--json")
    assert failed.code == (2 if status in ("400", "401", "403", "404") else 1), failed.err
    assert server.requests
    again, threads = cli("show", "t1"), cli("threads")
    search(
        stdout=failed.out, stderr=failed.err, log=caplog.text, show=again.out + again.err,
        threads=threads.out, **kept(tmp_path),
    )  # fmt: skip
    for seen in server.requests:
        search(request=json.dumps(seen.body, ensure_ascii=False))


def test_weak_secrets_leave_a_task_a_file_and_what_is_shown_as_they_are(
    cli: Cli, start: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "postgres is our database of subtasks"
    for name, value in (
        ("POSTGRES_PASSWORD", "postgres"), ("SOME_TOKEN", "subtasks"), ("FORETHOUGHT_API_KEY", "database"),
        ("DATABASE_URL", "postgresql://postgres:postgres@postgres/database"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    (tmp_path / "writer.py").write_text(
        "from pathlib import Path\n\n\n"
        "def save(text: str) -> int:\n"
        '    """Save.\n\n    Args:\n        text: What.\n    """\n'
        "    return Path('saved.txt').write_text(text)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    move = call(tool="save") | {"arguments": {"text": said}}
    server = start(Script(plans=[plan(sub("a"))], moves={"a": [move]}, answers=[answer(said)]))
    done = cli("run", said, "--tools", "writer", "--thread", "t1", "--json", "--record", "run.jsonl")
    assert (done.code, done.json["status"], done.json["answer"]) == (0, "answered", said), done.err
    assert (tmp_path / "saved.txt").read_text() == said
    shown = (done.out, cli("show", "t1").out, cli("threads").out, (tmp_path / "run.jsonl").read_text())
    assert all("postgres" in text and "[secret]" not in text for text in shown)
    assert all("[secret]" not in seen.text for seen in server.requests)
