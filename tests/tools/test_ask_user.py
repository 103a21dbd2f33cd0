from __future__ import annotations

from collections.abc import Callable

from forethought.settings import Settings
from forethought.tools.ask_user import ASK_USER
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool


async def test_question_and_choices_reach_the_person_and_the_answer_comes_back(
    settings: Callable[..., Settings],
) -> None:
    asked: list[tuple[str, list[str]]] = []

    def ask(question: str, choices: list[str]) -> str:
        asked.append((question, choices))
        return "red"

    env = ToolEnv(settings=settings(), ask=ask)
    seen = await call_tool(ASK_USER, {"question": "Which?", "choices": ["red", "blue"]}, env)
    assert (seen.ok, seen.text, seen.origin) == (True, "red", "user")
    await call_tool(ASK_USER, {"question": "Why?"}, env)
    assert asked == [("Which?", ["red", "blue"]), ("Why?", [])]


async def test_where_nobody_can_be_asked_it_says_so(settings: Callable[..., Settings]) -> None:
    seen = await call_tool(ASK_USER, {"question": "Which?"}, ToolEnv(settings=settings()))
    assert (seen.ok, seen.cause) == (False, "unavailable")
    assert "no person is available" in seen.text
