"""What a person does with runs: plain forms, each answered by the page that shows what came of it.

Input that cannot be used brings the form again, with what was typed in it and one line that says why.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import quote

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from forethought.app.report import waiting
from forethought.app.text import to_json
from forethought.app.viewer.run_pages import run
from forethought.app.viewer.runs import NO_QUESTION, Json, Refused, Runs
from forethought.app.viewer.site import ROOT, number, page, runs_of
from forethought.nodes.support.task import MAX_TASK_CHARS
from forethought.text import sanitize_text

_SETTINGS = ("model", "effort", "approve_plan")
"""Fields of the Context that the form of a new task has."""
_MOST_BYTES = 16 * 1024 * 1024
"""Of a field: enough that a task which is too long comes back with its form."""
Action = Callable[[Runs, str, FormData], Awaitable[object]]


async def new_task(request: Request) -> Response:
    """The form of a new task, and its submission."""
    if request.method == "GET":
        return page("actions/new.html.j2")
    async with request.form(max_part_size=_MOST_BYTES) as form:
        settings = {name: text for name in _SETTINGS if (text := _text(form, name).strip())}
        try:
            thread_id = await runs_of(request).begin(_task(form), await _files(form), settings)
        except Refused as error:
            return page("actions/new.html.j2", 422, form=_typed(form, error))
        return _to_thread(thread_id)


async def act(request: Request) -> Response:
    """An action on a thread, by the name at the end of its address."""
    thread_id, action = request.path_params["thread"], ACTIONS[request.url.path.rpartition("/")[2]]
    if request.method == "GET":
        return _to_thread(thread_id)  # an address that was typed, or loaded again
    async with request.form(max_part_size=_MOST_BYTES) as form:
        try:
            await action(runs_of(request), thread_id, form)
        except Refused as error:
            return await run(request, form=_typed(form, error), status=422)
        return _to_thread(thread_id)


async def _next_task(runs: Runs, thread_id: str, form: FormData) -> None:
    await runs.begin(_task(form), await _files(form), thread_id=thread_id)


async def _reply(runs: Runs, thread_id: str, form: FormData) -> None:
    questions = [waiting(item) for item in (await runs.snapshot(thread_id)).interrupts]
    asked = {key.partition(":")[2] for key in form if ":" in key}
    if not asked <= {question["id"] for question in questions}:
        raise Refused(NO_QUESTION)
    replies = {q["id"]: reply for q in questions if (reply := read_reply(q, form)) is not None}
    if not replies:
        raise Refused("Choose or write a reply.")
    await runs.reply(thread_id, replies)


async def _resume(runs: Runs, thread_id: str, form: FormData) -> None:
    await runs.resume(thread_id)


async def _stop(runs: Runs, thread_id: str, form: FormData) -> None:
    await runs.stop(thread_id)


async def _fork(runs: Runs, thread_id: str, form: FormData) -> None:
    if not (before := number(_text(form, "before").strip())):
        raise Refused("Give the number of the step to go back to.")
    await runs.fork(thread_id, before, _text(form, "guidance"))


async def _wrong(runs: Runs, thread_id: str, form: FormData) -> None:
    if not (why := sanitize_text(_text(form, "why")).strip()):
        raise Refused("Say what is wrong.")
    await runs.wrong(thread_id, why)


ACTIONS: Mapping[str, Action] = {
    "task": _next_task,
    "reply": _reply,
    "resume": _resume,
    "stop": _stop,
    "fork": _fork,
    "wrong": _wrong,
}


def read_reply(question: Json, form: FormData) -> Json | None:
    """The reply to a question, from the fields NAME:ID of a form; None if it has none. Raises Refused."""
    key = question["id"]
    value, decision = _text(form, f"value:{key}"), _text(form, f"decision:{key}")
    if question.get("kind", "question") == "question":
        text = value.strip() or decision
        return {"decision": "answer", "value": text, "reason": ""} if text else None
    is_call = question["kind"] == "tool"
    asked = question["arguments"] if is_call else question["plan"]["subtasks"]
    if decision != "edit" and _is_changed(value, asked):
        what = "arguments" if is_call else "subtasks"
        raise Refused(f"You changed the {what}: choose Edit, or undo the change.")
    if not decision:
        return None
    reply: Json = {"decision": decision, "value": None, "reason": _text(form, f"reason:{key}").strip()}
    if decision == "edit":
        try:
            reply["value"] = json.loads(value)
        except ValueError as error:
            raise Refused(f"The edited text is not JSON: {error}.") from error
    return reply


def _is_changed(text: str, asked: object) -> bool:
    """Whether a field holds other JSON than what it was filled with; an empty one does not."""
    try:
        return to_json(json.loads(text)) != to_json(asked)
    except ValueError:
        return bool(text.strip())


def _task(form: FormData) -> str:
    """The task of a form. Raises Refused."""
    text = sanitize_text(_text(form, "task")).strip()
    if not text:
        raise Refused("Write the task.")
    if len(text) > MAX_TASK_CHARS:
        raise Refused(
            f"The task is too long ({len(text)} characters; at most {MAX_TASK_CHARS}): "
            "put the material in files."
        )
    return text


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


async def _files(form: FormData) -> list[tuple[str, bytes]]:
    files = [item for item in form.getlist("files") if isinstance(item, UploadFile) and item.filename]
    return [(str(file.filename), await file.read()) for file in files]


def _typed(form: FormData, problem: Refused) -> Json:
    """What the form is filled with again; `files`: whether some were chosen, which a browser forgets."""
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    lost = any(isinstance(item, UploadFile) and item.filename for item in form.getlist("files"))
    return {**texts, "files": lost, "problem": str(problem)}


def _to_thread(thread_id: str) -> Response:
    return RedirectResponse(f"{ROOT}/threads/{quote(thread_id, safe='')}", 303)


ROUTES = [
    Route("/new", new_task, methods=["GET", "POST"], name="new"),
    *(Route(f"/threads/{{thread}}/{name}", act, methods=["GET", "POST"], name=name) for name in ACTIONS),
]
