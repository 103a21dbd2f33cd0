"""The tools that the roles are told of: those that are of use with the given files."""

from __future__ import annotations

import base64
import io
import json
import re
import wave
from typing import Any

import pytest
from PIL import Image

from forethought.tools.registry import BUILT_IN
from tests.support.agent import Drive, Driven

ALWAYS = {"python", "web_search", "visit_webpage", "ask_user", "lookup"}
ROLES = ("Plan", "PlanDiagnosis", "ToolChoice")


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    return file.getvalue()


def sound() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(8000)
        made.writeframes(b"\0\0" * 80)
    return file.getvalue()


def given(**files: bytes) -> dict[str, Any]:
    listed = [
        {"name": name.replace("_", "."), "data": base64.b64encode(data).decode()}
        for name, data in files.items()
    ]
    return {"task": f"look at {len(files)} files", "files": listed}


def told(out: Driven) -> list[set[str]]:
    """The tools that each of the last task's prompts speaks of, whatever the sentence."""
    names = {*(tool.name for tool in BUILT_IN), "lookup"}
    prompts = [out.asked(role)[-1].messages[0][1] for role in ROLES]
    return [{name for name in names if re.search(rf"\b{name}\b", prompt)} for prompt in prompts]


@pytest.mark.parametrize(
    ("files", "besides"),
    [
        ({}, set()),
        ({"prices_csv": b"a,b\n1,2\n"}, {"read_file"}),
        ({"scan_dat": picture()}, {"read_file", "inspect_image"}),
        ({"call_wav": sound(), "a_csv": b"a\n"}, {"read_file", "inspect_audio"}),
    ],
)
async def test_only_tools_of_use_with_the_given_files_are_offered(
    drive: Drive, files: dict[str, bytes], besides: set[str]
) -> None:
    out = await drive(task=given(**files))
    assert told(out) == [ALWAYS | besides] * 3
    schema = json.dumps(out.asked("ToolChoice")[-1].schema)
    assert {name for name in (tool.name for tool in BUILT_IN) if f'"{name}"' in schema} | {"lookup"} == (
        ALWAYS | besides
    )


async def test_the_next_task_may_bring_the_file_that_a_tool_is_for(drive: Drive) -> None:
    out = await drive(task=given(prices_csv=b"a,b\n"))
    await out.go(given(chart_png=picture()))
    assert told(out)[-1] == ALWAYS | {"read_file", "inspect_image"}


async def test_a_plan_may_carry_calls_of_the_tools_on_offer_only(drive: Drive) -> None:
    out = await drive(task=given(prices_csv=b"a,b\n"), effort="auto")
    schema = json.dumps(out.asked("Plan")[0].schema)
    assert '"read_file"' in schema
    assert '"inspect_image"' not in schema
