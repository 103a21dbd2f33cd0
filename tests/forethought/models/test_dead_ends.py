"""What is said where no connection comes about."""

from __future__ import annotations

import socket

import httpx
import pytest

from forethought.models.dead_ends import PATIENCE_S, dead_end

OLLAMA, REMOTE = "http://localhost:11434/v1", "http://192.0.2.7:8000/v1"


def failed(url: str, *causes: OSError) -> Exception:
    """As httpx wraps what the system says of each address of a host."""
    error = httpx.ConnectError("failed", request=httpx.Request("POST", f"{url}/chat/completions"))
    error.__cause__ = causes[0] if len(causes) == 1 else OSError("All connection attempts failed")
    if len(causes) > 1:
        error.__cause__.__cause__ = ExceptionGroup("several", causes)
    return error


def refused(host: str = "127.0.0.1", port: int = 11434) -> OSError:
    return ConnectionRefusedError(111, f"Connect call failed ({host!r}, {port})")


@pytest.mark.parametrize(
    ("error", "base_url", "line", "patience_s"),
    [
        (
            failed(OLLAMA, refused()),
            OLLAMA,
            "Ollama (or the server at http://localhost:11434) running?",
            0,
        ),
        (failed(OLLAMA, refused("::1"), refused()), OLLAMA, "is Ollama (or the server at", 0),
        (
            failed(REMOTE, refused("192.0.2.7", 8000)),
            REMOTE,
            "is the server at http://192.0.2.7:8000 running? If so, correct --base-url",
            PATIENCE_S,
        ),
        (
            failed(OLLAMA, refused("10.0.0.1", 3128)),
            OLLAMA,
            "the proxy 10.0.0.1:3128 refuses connections: start it, or set NO_PROXY=localhost",
            0,
        ),
        (
            failed("http://modle.test/v1", socket.gaierror(socket.EAI_NONAME, "Name or service not known")),
            "http://modle.test/v1",
            "there is no host modle.test: correct --base-url",
            0,
        ),
        (
            failed("https://api.other.test/v1", socket.gaierror(socket.EAI_NONAME, "not known")),
            None,
            "there is no host api.other.test: correct its address, or check the network",
            0,
        ),
        (ConnectionRefusedError(111, "refused"), OLLAMA, "the server at http://localhost:11434", 0),
    ],
)
def test_the_line_names_what_was_asked(
    error: Exception, base_url: str | None, line: str, patience_s: float
) -> None:
    found = dead_end(error, base_url)
    assert found is not None
    assert line in found.line
    assert found.patience_s == patience_s


@pytest.mark.parametrize(
    "cause",
    [TimeoutError("slow"), socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), ConnectionResetError(104)],
)
def test_what_may_pass_is_no_dead_end(cause: OSError) -> None:
    assert dead_end(failed(OLLAMA, cause), OLLAMA) is None
