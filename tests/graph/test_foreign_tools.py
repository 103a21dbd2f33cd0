"""LangChain's tools in a run: what is injected, and what the run's callbacks hear."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManagerForToolRun
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import InjectedStore, ToolRuntime
from langgraph.store.memory import InMemoryStore

from tests.support.agent import Drive, Script
from tests.support.replies import call, plan, sub


async def test_runtime_store_and_state_of_the_run_are_injected(drive: Drive) -> None:
    seen: dict[str, Any] = {}

    @langchain_tool
    async def note(text: str, runtime: ToolRuntime[Any, Any], store: Annotated[Any, InjectedStore()]) -> str:
        """Take a note."""
        seen.update(context=runtime.context, store=store)
        runtime.stream_writer({"event": "noted"})
        store.put(("notes",), "1", {"text": text})
        return str(runtime.state["messages"][0].text)

    class Reads(BaseTool):
        name: str = "read_note"
        description: str = "Read a note."

        def _run(self, which: str) -> str:
            raise NotImplementedError

        async def _arun(self, which: str, run_manager: AsyncCallbackManagerForToolRun | None = None) -> str:
            assert run_manager is not None
            return f"read {which}"

    store = InMemoryStore()
    script = Script(
        plans=[plan(sub("a"), sub("b", after=["a"]))],
        moves={
            "a": [call(tool="note", text="x"), call("x")],
            "b": [call(tool="read_note", which="k")],
        },
    )
    out = await drive(script, tools=[note, Reads()], store=store, approve_tools="never")
    assert (out.steps[0]["tool"], out.steps[0]["observation"]) == ("note", "the task")
    assert (seen["context"].approve_tools, seen["store"]) == ("never", store)
    assert store.get(("notes",), "1").value == {"text": "x"}  # type: ignore[union-attr]
    assert out.steps[-1]["observation"] == "read k"


class Heard(AsyncCallbackHandler):
    """What the callbacks of a run are told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    async def on_tool_start(self, serialized: dict[str, Any], input_str: str, **kwargs: Any) -> None:
        self.events.append(("start", (serialized["name"], kwargs["inputs"])))

    async def on_tool_end(self, output: Any, **_: Any) -> None:
        self.events.append(("end", getattr(output, "content", output)))

    async def on_tool_error(self, error: BaseException, **_: Any) -> None:
        self.events.append(("error", str(error)))

    async def on_chat_model_start(self, serialized: dict[str, Any], messages: Any, **_: Any) -> None:
        self.events.append(("model", ""))


async def test_callbacks_hear_of_every_model_and_tool_call(drive: Drive) -> None:
    @langchain_tool
    def order(what: str) -> str:
        """Order something."""
        raise RuntimeError(f"no {what}")

    moves = {"a": [call(tool="order", what="x"), call("a")]}
    out = await drive(Script(moves=moves), tools=[order], task=None, approve_tools="never")
    heard = Heard()
    out.config["callbacks"] = [heard]
    await out.go("the task")
    assert out.status == "answered"
    assert [event for event in heard.events if event[0] != "model"] == [
        ("start", ("order", {"what": "x"})),
        ("error", "no x"),
        ("start", ("lookup", {"key": "a", "note": None})),
        ("end", "value of a"),
    ]
    assert len([event for event in heard.events if event[0] == "model"]) == len(out.requests)
