"""An MCP server of a test, as a process of its own: `python mcp_server.py [stdio|streamable-http PORT]`."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from mcp.server.fastmcp import FastMCP, Image
from mcp.types import ToolAnnotations
from pydantic import BaseModel

READS = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
server = FastMCP("rooms", port=int(sys.argv[2]) if len(sys.argv) > 2 else 8000, log_level="ERROR")


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
    if how == "slow":
        time.sleep(30)
    raise ValueError(f"no room is called {how}, and the key is {os.environ.get('ROOMS_KEY')}")


@server.tool(annotations=READS)
def picture() -> Image:
    """Show a picture."""
    return Image(data=b"\x89PNG\r\n", format="png")


@server.tool(annotations=READS)
def key() -> str:
    """Tell the environment."""
    return f"{os.environ.get('ROOMS_KEY')} {os.environ.get('OPENAI_API_KEY')}"


if __name__ == "__main__":
    server.run(transport="streamable-http" if "streamable-http" in sys.argv else "stdio")
