"""A thread as one file for a bug report: a page that opens without a network, Markdown, or JSON.

Secrets are redacted once more, and so is what has the shape of a key or a login, whoever it belongs to.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from jinja2 import Environment
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from forethought.app.text import to_json
from forethought.app.threads.thread import is_debugging
from forethought.app.viewer.markdown_export import markdown_of_debugging, markdown_of_run
from forethought.app.viewer.run_data import debugging_data, run_data
from forethought.app.viewer.runs import Threads
from forethought.app.viewer.site import HERE, environment, runs_of
from forethought.redaction import redact_texts, redactor, scrubber
from forethought.settings import Settings

TYPES = {"html": "text/html", "md": "text/markdown", "json": "application/json"}
"""Media types by what a file's name ends with."""
STATIC = HERE / "static"
STYLES = ("style", "parts", "run", "steps")
"""Style sheets of an exported page."""


async def export(threads: Threads, thread_id: str, kind: str, settings: Settings | None = None) -> str:
    """The thread's present task, or a debugging, as the text of a file of this `kind` (see TYPES).

    Raises UnknownThread.
    """
    debugging = is_debugging(thread_id)
    reading = debugging_data(threads, thread_id) if debugging else run_data(threads, thread_id, whole=True)
    data = redact_texts(await reading, scrubber(settings))
    if kind == "json":
        text = to_json(data if debugging else data["result"]) + "\n"
    elif kind == "md":
        text = (markdown_of_debugging if debugging else markdown_of_run)(data, release())
    else:
        name = "debugging.html.j2" if debugging else "run.html.j2"
        values = {"debugging": data, "whole": True} if debugging else data
        templates = await asyncio.to_thread(_templates)  # it reads files
        text = templates.get_template(name).render(layout="export.html.j2", release=release(), **values)
    return redactor(settings)(text)


async def download(request: Request) -> Response:
    """A thread's export as a file to keep."""
    thread_id, kind = request.path_params["thread"], request.path_params["kind"]
    if kind not in TYPES:
        raise HTTPException(404, f"no such export; choose {', '.join(TYPES)}")
    name = f"{re.sub(r'[^A-Za-z0-9._-]+', '-', thread_id)[:100]}.{kind}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(
        await export(runs_of(request), thread_id, kind, request.app.state.settings),
        media_type=TYPES[kind],
        headers=headers,
    )


def release() -> str:
    """The installed version."""
    try:
        return f"forethought {version('forethought')}"
    except PackageNotFoundError:
        return "forethought (not installed)"


@lru_cache(maxsize=1)
def _templates() -> Environment:
    """The viewer's templates, for a page that has no other page beside it."""
    vendor = STATIC / "vendor"
    notice = f"/* dagre\n{(vendor / 'dagre.LICENSE').read_text('utf-8')}*/\n"
    script = notice + (vendor / "dagre.min.js").read_text("utf-8") + (STATIC / "plan.js").read_text("utf-8")
    style = "".join((STATIC / f"{name}.css").read_text("utf-8") for name in STYLES)
    templates = environment()
    templates.globals |= {
        "address": lambda query, **changes: "",
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
    }
    return templates


def _hash(text: str) -> str:
    """A text as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
