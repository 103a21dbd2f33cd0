"""LangChain's tools as tools of the agent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException
from langchain_core.tools import Tool as TextTool
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import InjectedState
from langgraph.types import Command
from pydantic import BaseModel, Field, field_validator
from pydantic.v1 import BaseModel as BaseModelV1

from forethought.settings import Settings
from forethought.tools.base import Observation, Tool, ToolEnv, make_tool
from forethought.tools.call import call_tool, check_arguments
from forethought.tools.registry import describe, toolbox


async def carry_out(tool: Tool, **arguments: Any) -> Observation:
    return await call_tool(tool, arguments, ToolEnv(settings=Settings(), call_id="the-id"))


@langchain_tool
def stock(product: str, warehouse: str | None = None) -> str:
    """How many pieces of a product are in stock."""
    return f"{product} in {warehouse}: 40"


@langchain_tool(parse_docstring=True)
async def price(product: str, pieces: int = 1) -> dict[str, Any]:
    """The price of a product.

    Args:
        product: Its number.
        pieces: How many.
    """
    return {"product": product, "euros": 3 * pieces}


class Parcel(BaseModel):
    """A parcel."""

    to: str = Field(description="A town.")
    grams: int

    @field_validator("to")
    @classmethod
    def _is_upper(cls, value: str) -> str:
        if not value.istitle():
            raise ValueError("must begin with a capital")
        return value


class Post(BaseTool):
    name: str = "post office"
    description: str = "Post a parcel."
    args_schema: Any = Parcel
    response_format: Any = "content_and_artifact"

    def _run(self, to: str, grams: int, config: RunnableConfig) -> tuple[str, Any]:
        assert "callbacks" in config
        return f"{grams} g to {to}", {"weight": grams}


async def test_what_langchain_calls_a_tool_is_one() -> None:
    upper = TextTool(name="upper", description="In capitals.", func=str.upper)
    cube = StructuredTool.from_function(lambda side: side**3, name="cube", description="A cube.")
    tools = {tool.name: tool for tool in map(make_tool, (stock, price, Post(), upper, cube))}
    assert list(tools) == ["stock", "price", "post_office", "upper", "cube"]
    assert "price(product: string, pieces: integer = 1)\n  The price of a product." in describe(tools)
    assert "  - product: Its number." in describe(tools)
    assert (await carry_out(tools["stock"], product="A")).text == "A in None: 40"
    assert (await carry_out(tools["price"], product="A", pieces="2")).text == '{"product": "A", "euros": 6}'
    assert (await carry_out(tools["post_office"], to="Graz", grams=5)).text == "5 g to Graz"
    assert (await carry_out(tools["upper"], tool_input="x")).text == "X"
    assert (await carry_out(tools["cube"], side=3)).text == "27"


async def test_arguments_are_checked_before_the_call_by_the_tool_s_own_schema() -> None:
    post = make_tool(Post())
    for arguments, said in (
        ({"to": "graz", "grams": 1}, "must begin with a capital"),
        ({"to": "Graz"}, "grams is missing"),
        ({"to": "Graz", "grams": 1, "by": "air"}, "by is not an argument"),
    ):
        assert said in str(check_arguments(post, arguments))
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    free = StructuredTool(name="free", description="Rooms.", args_schema=schema, func=lambda day: day)
    assert "'day' is a required property" in str(check_arguments(make_tool(free), {}))
    assert (await carry_out(make_tool(free), day="Monday")).text == "Monday"


async def test_arguments_arrive_by_their_aliases_and_only_those_that_are_given() -> None:
    class Way(BaseModel):
        start: str = Field(alias="from")

    class OldForm(BaseModelV1):
        side: int

    way = StructuredTool(name="way", description="A way.", args_schema=Way, func=lambda start: f"at {start}")
    old = StructuredTool(name="old", description="A cube.", args_schema=OldForm, func=lambda side: side**3)

    @langchain_tool
    def loose(x: int, **kwargs: str) -> str:
        """Take what comes."""
        return f"{x} {kwargs}"

    assert (await carry_out(make_tool(way), **{"from": "Graz"})).text == "at Graz"
    assert (await carry_out(make_tool(loose), x=1)).text == "1 {}"
    assert (await carry_out(make_tool(old), side=2)).text == "8"


def test_it_writes_unless_somebody_says_otherwise(settings: Callable[..., Settings]) -> None:
    read = stock.model_copy(update={"metadata": {"effect": "read"}})
    hinted = stock.model_copy(update={"metadata": {"readOnlyHint": True, "openWorldHint": False}})
    assert [make_tool(tool).effect for tool in (stock, read, hinted)] == ["write", "read", "read"]
    assert make_tool(read, effect="egress", timeout_s=3).timeout_s == 3
    box = toolbox(settings(), [stock, price], effects={"stock": "read", "web_search": "write"})
    assert [box[name].effect for name in ("stock", "price", "web_search")] == ["read", "write", "write"]
    for effects in ({"stok": "read"}, {"stock": "harmless"}):
        with pytest.raises(ValueError, match="stock"):
            toolbox(settings(), [stock], effects=effects)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="its effect must be read, write, egress, not 'none'"):
        make_tool(stock.model_copy(update={"metadata": {"effect": "none"}}))
    with pytest.raises(ValueError, match="address or content names 'nobody'"):
        make_tool(stock, content=("nobody",))


async def test_what_it_raises_is_an_observation() -> None:
    @langchain_tool
    def order(what: str) -> str:
        """Order something."""
        if what == "odd":
            raise RuntimeError("a bug")
        raise ToolException(f"no {what} left")

    seen = await carry_out(make_tool(order), what="nails")
    assert (seen.ok, seen.cause, seen.text) == (False, "tool", "no nails left")
    assert (await carry_out(make_tool(order), what="odd")).text == "RuntimeError: a bug"
    handled = order.model_copy(update={"handle_tool_error": True})
    seen = await carry_out(make_tool(handled), what="nails")
    assert (seen.ok, seen.text) == (False, "no nails left")


async def test_blocks_messages_and_commands() -> None:
    @langchain_tool
    def answer(kind: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Answer in another form."""
        if kind == "blocks":
            return [{"type": "text", "text": "a"}, {"type": "image", "base64": "", "mime_type": "image/png"}]
        if kind == "message":
            return ToolMessage(f"for {tool_call_id}", tool_call_id=tool_call_id)
        return Command(update={"messages": [ToolMessage("done", tool_call_id=tool_call_id)]})

    tool = make_tool(answer)
    assert set(tool.arguments.model_fields) == {"kind"}
    assert (await carry_out(tool, kind="blocks")).text == "a\n[image/png, not shown]"
    assert (await carry_out(tool, kind="message")).text == "for the-id"
    seen = await carry_out(tool, kind="command")
    assert "returned a Command, which changes the state of a graph of its own" in seen.text


async def test_what_is_injected_is_no_argument_of_the_model_s() -> None:
    @langchain_tool
    def of_state(key: str, user: Annotated[str, InjectedState("user")]) -> str:
        """Read the state."""
        return key

    @langchain_tool
    def optional(key: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        """Read of a user, or nobody."""
        return f"{key} of {user}"

    assert list(make_tool(of_state).arguments.model_fields) == ["key"]
    assert (await carry_out(make_tool(of_state), key="k")).text == "KeyError: 'user'"
    assert list(make_tool(optional).arguments.model_fields) == ["key"]
    assert (await carry_out(make_tool(optional), key="k")).text == "k of nobody"


def test_a_module_offers_langchain_s_tools_and_names_what_it_leaves_out(
    settings: Callable[..., Settings],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "of_langchain_18.py").write_text(
        "from json import dumps\nfrom langchain_core.tools import tool\nfrom forethought import make_tool\n"
        "@tool\ndef one(x: str) -> str:\n    '''One.'''\n    return x\n"
        "def _two(x: str) -> str:\n    '''Two.'''\n    return x\n"
        "def three(x: str) -> str:\n    return x\n"
        "again = one\ntwo = make_tool(_two, effect='egress')\n"
    )
    with caplog.at_level(logging.WARNING):
        box = toolbox(settings(tools="of_langchain_18"), builtin=())
    assert {name: tool.effect for name, tool in box.items()} == {"one": "write", "_two": "egress"}
    assert caplog.messages == [
        "tools module of_langchain_18: three is not offered: give it a docstring, or begin its name with _"
    ]
