"""Serves the viewer of `forethought view`: its socket, its address, the browser, and its end."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
import signal
import socket
import sys
import webbrowser
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from pydantic import SecretStr

from forethought.app.errors import CliError
from forethought.app.options import settings_from
from forethought.app.text import one_line
from forethought.app.threads.thread import unknown_thread
from forethought.app.viewer.evaluations import named_folders
from forethought.app.viewer.local import LocalRuns
from forethought.app.viewer.site import ROOT, make_site
from forethought.settings import Settings
from forethought.storage import address_of, open_threads

if TYPE_CHECKING:
    from forethought.app.viewer.command import ViewOptions
    from forethought.shutdown import Shutdown

PORT = 8123
_STREAMS_S = 2
"""How long pages that are open may keep the viewer from its end."""


class _Server(uvicorn.Server):
    """On Ctrl-C the runs are cancelled, on SIGTERM their calls finish, as those of `forethought run`."""

    def __init__(self, config: uvicorn.Config, shutdown: Shutdown) -> None:
        super().__init__(config)
        self._shutdown = shutdown

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See uvicorn.Server, whose own raises the signal again: a second one stops the runs at once."""
        self._shutdown.request(at_once=sig == signal.SIGINT or self.should_exit)
        self.force_exit, self.should_exit = self.should_exit, True


async def serve(options: ViewOptions, shutdown: Shutdown) -> None:
    """Serve until a signal ends it, and the runs with it. Raises CliError, StorageError."""
    settings, evaluations = settings_from(options), named_folders(options.evaluations or [])
    async with open_threads(address_of(settings), settings.key) as saver:
        if options.thread and not await saver.head(options.thread):
            raise unknown_thread(options.thread)
        settings, token = _with_token(settings, options.host)
        runs = LocalRuns(saver, options, shutdown)
        with _listen(options.host, options.port) as listener:
            address = _address(options.host, listener.getsockname()[1], options.thread, token)
            print(f"{address} (Ctrl-C stops the viewer)", flush=True)
            if not options.no_browser and _has_browser():
                await asyncio.to_thread(webbrowser.open, address)
            site = make_site(lambda request: runs, settings)
            site.state.evaluations = evaluations
            site.state.is_closing = lambda: shutdown.requested
            config = uvicorn.Config(site, log_level="error", timeout_graceful_shutdown=_STREAMS_S, ws="none")
            await _Server(config, shutdown).serve([listener])
        await runs.close()


def _with_token(settings: Settings, host: str) -> tuple[Settings, str]:
    """The settings, with a token for whom the network lets in, if they have none; the token that is new."""
    if settings.access_tokens or _is_own(host):
        return settings, ""
    token = secrets.token_urlsafe(24)
    return settings.model_copy(update={"access_tokens": SecretStr(f"viewer={token}")}), token


def _is_own(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port, or on a free one if none is named and ours is taken. Raises CliError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        if port is not None:
            return socket.create_server((host, port), family=family)
        try:
            return socket.create_server((host, PORT), family=family)
        except OSError:
            return socket.create_server((host, 0), family=family)
    except OSError as error:
        reason = (error.strerror or "").partition(" (while")[0]
        place = one_line(f"{host}:{port or PORT}")
        raise CliError(f"{place}: {reason}; choose another --host or --port") from error


def _address(host: str, port: int, thread: str | None, token: str) -> str:
    """The address that a browser opens."""
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    name = f"[{host}]" if ":" in host else host
    place = f"threads/{thread}" if thread else ""
    return f"http://{name}:{port}{ROOT}/{place}" + (f"?token={token}" if token else "")


def _has_browser() -> bool:
    """Whether a window can be opened: text browsers would take the terminal."""
    desktop = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return sys.platform in ("darwin", "win32") or desktop
