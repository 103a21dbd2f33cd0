"""The Chromium of this machine, for tests and pictures of the viewer."""

from __future__ import annotations

import os
import shutil
from typing import Any

_COMMANDS = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
)


def find_chromium() -> str:
    """Its path: $CHROMIUM, or the first known command on PATH; '' if there is none."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *_COMMANDS))), "")


def launch_options() -> dict[str, Any]:
    """Keyword arguments of Playwright's `launch`: headless, and no address but this machine's resolves."""
    arguments = [f"--{name}" for name in _QUIET]
    arguments.append("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium refuses root otherwise
    return {"executable_path": find_chromium(), "args": arguments}
