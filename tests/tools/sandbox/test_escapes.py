"""Attempts to escape from either backend: none succeeds or outlives its limits, and the next call works."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from forethought.settings import Settings
from forethought.tools.base import Observation, Tool, ToolEnv, make_tool
from forethought.tools.call import call_tool
from forethought.tools.python import PYTHON
from forethought.tools.sandbox.sandlock import why_not
from tests.tools.sandbox.attempts import BOMBS, COMMON, FULL

SECRET = "correct-horse-7431"
SECONDS = 1.0
CASES = [("monty", name, code) for name, code in (COMMON | BOMBS).items()]
CASES += [("sandlock", name, code) for name, code in (COMMON | BOMBS | FULL).items()]


@dataclass
class Host:
    """A host with a secret, a process and services to attack."""

    folder: Path
    process: subprocess.Popen[bytes]
    listener: socket.socket
    service: socket.socket
    reached: list[str]

    def fill(self, code: str) -> str:
        """Return `code` with the addresses of this host."""
        places = {
            "FILE": str(self.folder / "secret.txt"),
            "FOLDER": str(self.folder),
            "SOCKET": str(self.folder / "service"),
            "PORT": str(self.listener.getsockname()[1]),
            "PID": str(self.process.pid),
        }
        for name, place in places.items():
            code = code.replace(name, place)
        return code

    def harm(self) -> list[str]:
        """Name what an attack has changed."""
        secret = self.folder / "secret.txt"
        whole = secret.is_file() and secret.read_text() == SECRET
        state = secret.stat() if whole else None
        found = {
            "the file": whole,
            "its mode or times": state is not None
            and (state.st_mode & 0o777, state.st_mtime > 1) == (0o600, True),
            "the folder": sorted(p.name for p in self.folder.iterdir())
            == ["secret.txt", "service", "stolen.py"],
            "the process": self.process.poll() is None,
            "its priority": os.getpriority(os.PRIO_PROCESS, self.process.pid)
            == os.getpriority(os.PRIO_PROCESS, 0),
            "the network": not self.reached,
        }
        return [what for what, good in found.items() if not good]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    (folder / "secret.txt").write_text(SECRET)
    (folder / "secret.txt").chmod(0o600)
    (folder / "stolen.py").write_text(f"SECRET = {SECRET!r}\n")
    listener, service = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    service.bind(os.path.relpath(folder / "service"))
    service.listen()
    reached: list[str] = []
    for name, waiting in (("tcp", listener), ("unix", service)):
        threading.Thread(target=_listen, args=(waiting, name, reached), daemon=True).start()
    process = subprocess.Popen(["sleep", "3600"])
    yield Host(folder, process, listener, service, reached)
    process.kill()
    process.wait()
    listener.close()
    service.close()


def _listen(waiting: socket.socket, name: str, reached: list[str]) -> None:
    while True:
        try:
            waiting.accept()[0].close()
        except OSError:
            return
        reached.append(name)


@pytest.fixture(autouse=True)
def secrets_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOLEN_WORD", SECRET)


def lookup(key: str) -> str:
    """Look something up."""
    return key


def environment(backend: Literal["monty", "sandlock"], folder: Path) -> ToolEnv:
    async def call(name: str, arguments: dict[str, object]) -> Observation:
        return Observation(str(arguments["key"]))

    settings = Settings(data_dir=folder, python_backend=backend, python_seconds=SECONDS, python_memory_mb=96)
    offered: dict[str, Tool] = {"lookup": make_tool(lookup)}
    return ToolEnv(settings=settings, results={"s1": "42"}, call=call, offered=offered)


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str, str], Observation]:
    def go(backend: Literal["monty", "sandlock"], code: str) -> Observation:
        problem = why_not() if backend == "sandlock" else None
        if problem:
            pytest.skip(problem.message)
        return asyncio.run(call_tool(PYTHON, {"code": code}, environment(backend, tmp_path)))

    return go


@pytest.mark.parametrize(("backend", "name", "code"), CASES, ids=[f"{b}-{n}" for b, n, _ in CASES])
def test_no_attempt_escapes(
    host: Host, run: Callable[[str, str], Observation], backend: str, name: str, code: str
) -> None:
    before = threading.active_count()
    began = time.monotonic()
    seen = run(backend, host.fill(code))
    took = time.monotonic() - began
    assert "ESCAPED" not in seen.text.split("`: ")[-1], "the line of an error may hold it"
    assert SECRET not in seen.text
    assert "secret.txt" not in seen.text.replace(str(host.folder / "secret.txt"), "")
    assert host.harm() == []
    assert took < SECONDS + 12
    assert len(seen.text) < 30_000
    if name in BOMBS:
        assert not seen.ok
        assert run(backend, "lookup(key=results['s1'])").text == "42"
    assert threading.active_count() <= before


def test_open_files_are_not_inherited(host: Host, run: Callable[[str, str], Observation]) -> None:
    fd = os.open(host.folder / "secret.txt", os.O_RDONLY)
    try:
        os.set_inheritable(fd, True)
        assert SECRET not in run("sandlock", FULL["inherited files"]).text
    finally:
        os.close(fd)


def test_no_file_or_process_is_left_behind(
    tmp_path: Path, run: Callable[[str, str], Observation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    descriptors, before = len(os.listdir("/proc/self/fd")), set(_children())
    for code in ("open('a', 'w').write('x')", "while True: pass", "import os\nos.abort()"):
        run("sandlock", code)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    children = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in set(_children()) - before]
    assert [name for name in children if name.startswith("python")] == []


def _children() -> list[str]:
    paths = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [pid for path in paths for pid in path.read_text().split()]
