"""A chat message as the reply to what the agent waits for: in a chat, a person answers a question by writing.

It is the answer to a question. To a plan or a call that needs approval it is the decision where it says one,
else a rejection with these words: nothing is approved that was not. A new task is given as `task`, or once
the run has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages
from langgraph.types import Command, StateSnapshot


def chat_reply(given: Any, snapshot: StateSnapshot) -> Command[Any] | None:
    """The command that `given`, the input of a run, amounts to on a thread that waits for one reply; None
    elsewhere, and for a message with files."""
    if not isinstance(given, Mapping) or len(snapshot.interrupts) != 1:
        return None
    (interrupt,) = snapshot.interrupts
    messages, others = given.get("messages") or [], {name for name, value in given.items() if value}
    messages = convert_to_messages(messages if isinstance(messages, list) else [messages])
    message = messages[-1] if messages else None
    if (
        others != {"messages"}
        or not isinstance(message, HumanMessage)
        or not isinstance(interrupt.value, dict)
    ):
        return None
    has_files = any(isinstance(block, dict) and block.get("type") != "text" for block in message.content)
    if has_files or message.id in [known.id for known in snapshot.values.get("messages", [])]:
        return None
    message.id = message.id or str(uuid4())
    progress = {**snapshot.values["progress"], "message_id": message.id}
    asked = interrupt.value.get("question")  # so that it stands before its answer
    question = [AIMessage(asked, id=interrupt.value["id"])] if asked else []
    reply = _reply(str(message.text).strip(), interrupt.value)
    update = {"messages": [*question, *messages], "progress": progress}
    return Command(resume={interrupt.id: reply}, update=update)


def _reply(text: str, payload: Mapping[str, Any]) -> Any:
    if payload.get("kind") == "question":
        return text
    word = text.lower().rstrip(".!")
    decides = word in payload.get("choices", ()) and word != "edit"
    return {"decision": word} if decides else {"decision": "reject", "reason": text}
