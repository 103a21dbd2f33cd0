"""An MCP server of a test, as a process of its own: `python mcp_server.py [FD]`.

It speaks over stdio, or over HTTP on a socket that it inherits, which listens already.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import Any

import uvicorn
from mcp.server.fastmcp import FastMCP, Image
from mcp.types import ToolAnnotations
from pydantic import BaseModel

READS = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
server = FastMCP("rooms", log_level="ERROR")


class Guest(BaseModel):
    name: str
    friends: list[Guest] = []


@server.tool(annotations=READS)
def free(day: str, floor: int = 1) -> str:
    """The free rooms of a day."""
    return f"on {day}, floor {floor}: A, B"


@server.tool()
def book(room: str, guest: Guest) -> str:
    """Book a room."""
    return f"{room} for {guest.name}"


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def search(query: str) -> str:
    """Search elsewhere."""
    return query


@server.tool(annotations=READS)
def note(fields: dict[str, Any]) -> str:
    """Take any fields."""
    return ", ".join(f"{key}={value}" for key, value in sorted(fields.items()))


@server.tool(annotations=READS)
def lookup(key: str) -> str:
    """Has the name of another tool."""
    return f"from the server: {key}"


@server.tool(name="read.file", annotations=READS)
def odd_name() -> str:
    """Has a name that no function may have."""
    return "odd"


@server.tool(annotations=READS)
def fail(how: str) -> str:
    """Go wrong."""
    if how == "exit":
        os._exit(1)
    keys = f"{os.environ.get('ROOMS_KEY')} and {os.environ.get('OPENAI_API_KEY')}"
    raise ValueError(f"no room is called {how}, and the keys are {keys}")


@server.tool(annotations=READS)
def wait() -> str:
    """Take long."""
    time.sleep(30)
    return "late"


@server.tool(annotations=READS)
def picture() -> Image:
    """Show a picture."""
    return Image(data=b"\x89PNG\r\n", format="png")


if __name__ == "__main__":
    if sys.argv[1:]:
        app = uvicorn.Config(server.streamable_http_app(), log_level="error")
        uvicorn.Server(app).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
    else:
        server.run()
