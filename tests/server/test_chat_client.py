"""What a chat client shows of a run: its messages, put together as LangChain's `useStream` does."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.server.support import DevServer, Json, agent_policy
from tests.support.replies import call, check, checked, finish

pytestmark = pytest.mark.server
LONG = (
    "It is blue, as the note says, and **not** red: [blue](https://colours.test/blue) has been it since May."
)
ASK = call(tool="ask_user", question="Which one?", choices=["red", "blue"])


@dataclass
class Chat:
    """A chat client with one thread."""

    server: DevServer
    thread: str = ""
    messages: list[Json] = field(default_factory=list)
    status: str = ""
    interrupts: list[Json] = field(default_factory=list)
    views: list[list[tuple[str, str]]] = field(default_factory=list)
    """What stood on the screen after each event: type and text, or the tool that is called."""
    nodes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.thread = str(self.server.client.threads.create()["thread_id"])

    def say(self, content: Any) -> Chat:
        """Send a message, and read all that comes."""
        return self._run(input={"messages": [{"role": "user", "content": content}]})

    def decide(self, **decision: Any) -> Chat:
        """Press a button."""
        return self._run(command={"resume": {"decisions": [decision]}})

    @property
    def view(self) -> list[tuple[str, str]]:
        """What stands on the screen."""
        return [(m["type"], _text(m) or m["tool_calls"][0]["name"]) for m in self.messages]

    def _run(self, **given: Any) -> Chat:
        modes = ["values", "messages-tuple", "custom"]
        context = {"effort": "auto"}
        stream = self.server.client.runs.stream(
            self.thread, "agent", stream_mode=modes, context=context, **given
        )
        self.views.clear()
        for part in stream:
            assert part.event != "error", part.data
            if part.event == "values":
                self.messages, self.status = part.data.get("messages", []), part.data.get("status", "")
                self.interrupts = part.data.get("__interrupt__", [])
            elif part.event == "messages":
                self._add(*part.data)
            self.views.append(self.view)
        return self

    def _add(self, message: Json, metadata: Json) -> None:
        self.nodes.append(metadata["langgraph_node"])
        message = {**message, "type": message["type"].replace("MessageChunk", "").lower()}
        for known in self.messages:
            if known["id"] == message["id"]:
                known["content"] = _text(known) + _text(message)
                return
        self.messages = [*self.messages, message]


def _text(message: Json) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def test_what_it_shows_is_a_conversation(server: DevServer) -> None:
    server.models.policy = agent_policy(
        call(tool="python", code="print('blue')", finishes=False),
        finish("blue"),
        answer=checked(LONG, check()),
    )
    chat = Chat(server).say("Which colour is it?")
    assert chat.view == [
        ("human", "Which colour is it?"),
        ("ai", "python"),
        ("tool", "blue"),
        ("ai", LONG),
    ]
    assert (chat.messages[2]["status"], chat.status) == ("success", "answered")
    growing = [view[-1][1] for view in chat.views if view and len(view) == 4]
    assert len(dict.fromkeys(growing)) > 5, "the answer comes piece by piece"
    assert all(LONG.startswith(text) for text in growing)
    assert not [text for view in chat.views for _, text in view if "{" in text], "no JSON, at any time"
    assert set(chat.nodes) == {"tool_executor", "answer_agent"}
    kept: Any = server.client.threads.get_state(chat.thread)["values"]
    assert [(m["id"], _text(m)) for m in kept["messages"]] == [(m["id"], _text(m)) for m in chat.messages]
    server.models.policy = agent_policy(answer=checked("Since May.", check()))
    assert chat.say("Since when?").view[4:] == [("human", "Since when?"), ("ai", "Since May.")]


def test_the_older_stream_of_messages_shows_the_same(server: DevServer) -> None:
    """`messages` sends each message as far as it has come."""
    server.models.policy = agent_policy(answer=checked(LONG, check()))
    thread = server.client.threads.create()["thread_id"]
    given: Any = {"messages": [{"role": "user", "content": "Which?"}]}
    parts = list(
        server.client.runs.stream(
            thread, "agent", input=given, stream_mode="messages", context={"effort": "auto"}
        )
    )
    texts = [_text(part.data[0]) for part in parts if part.event.startswith("messages/p")]
    assert len(texts) > 5
    assert texts == sorted(texts, key=len)
    assert texts[-1] == LONG


def test_a_question_is_answered_by_the_next_message(server: DevServer) -> None:
    server.models.policy = agent_policy(ASK, finish("blue"), answer=checked("Blue.", check()))
    chat = Chat(server).say("Paint it.")
    assert chat.status == "interrupted"
    assert chat.interrupts[0]["value"]["question"] == "Which one?"
    waiting: Any = server.client.threads.get_state(chat.thread)
    assert waiting["values"]["status"] == "interrupted"
    assert server.client.threads.get(chat.thread)["status"] == "interrupted"
    assert chat.say("the blue one").status == "answered"
    assert chat.view == [
        ("human", "Paint it."),
        ("ai", "Which one?"),
        ("human", "the blue one"),
        ("ai", "ask_user"),
        ("tool", "the blue one"),
        ("ai", "Blue."),
    ]


def test_a_question_is_answered_in_the_form_of_an_inbox(server: DevServer) -> None:
    server.models.policy = agent_policy(ASK, finish("blue"), answer=checked("Blue.", check()))
    chat = Chat(server).say("Paint it.")
    (request,) = chat.interrupts[0]["value"]["action_requests"]
    edited = {**request, "args": {**request["args"], "answer": "red"}}
    chat.decide(type="edit", edited_action=edited)
    assert (chat.status, chat.view[2]) == ("answered", ("tool", "red"))


def test_files_come_as_chat_clients_send_them(server: DevServer) -> None:
    """A picture and a document beside the words, and one that only says where it is."""
    server.models.policy = agent_policy(answer=checked("Two files.", check()))
    data = base64.b64encode(b"%PDF-1.4 nothing").decode()
    words = {"type": "text", "text": "What are these?"}
    files = [
        {"type": "file", "mimeType": "application/pdf", "data": data, "metadata": {"filename": "a.pdf"}},
        {"type": "image", "mimeType": "image/png", "data": data, "metadata": {"name": "b.png"}},
    ]
    chat = Chat(server).say([words, *files])
    kept: Any = server.client.threads.get_state(chat.thread)["values"]
    assert [file["name"] for file in kept["files"]] == ["a.pdf", "b.png"]
    assert chat.view == [("human", "What are these?"), ("ai", "Two files.")]
    chat.say([words, {"type": "image", "url": "https://colours.test/c.png"}])
    assert chat.status == "failed"
    assert "the agent fetches no addresses): send its content in base64" in chat.view[-1][1]
