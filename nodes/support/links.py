"""Links: the addresses that a thread knows, and by whom.

The person gives the addresses in their own words. Other authors give those that a result holds whole. An echo
gives nothing: neither a failed call, nor computed or modelled text, nor a result that repeats its call's
arguments or puts an address together from them, nor the content of an earlier call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, log2
from typing import Any

from forethought.nodes.support.addresses import address_key, addresses_in, made_up
from forethought.nodes.support.origins import influence, parts, thread_steps
from forethought.nodes.support.words import words_of
from forethought.state.agent import AgentState, Proposal
from forethought.tools.base import Tool

Json = dict[str, Any]


@dataclass
class Links:
    """Keys of addresses, by who gave them."""

    own: Mapping[str, str]
    others: dict[str, str] = field(default_factory=dict)
    approved: set[str] = field(default_factory=set)
    chosen: float = 0.0
    """Bits that choices among `others` can have revealed since something private was read."""


def links_of(state: AgentState, tools: Mapping[str, Tool], proposal: Proposal | None = None) -> Links:
    """The thread's links. The choices of a proposal and of its wave before it count as made."""
    links = Links(addresses_in("\n".join([*words_of(state, tools), *state.get("foreseen", [])])))
    since = min(influence(state, tools).private.values(), default=inf)
    since = max(state.get("progress", {}).get("base_n", 0), since)
    wave = [item for item in state.get("proposals", {}).values() if proposal and item["n"] <= proposal["n"]]
    stored = ""
    for _, text in looks(state):
        links.others |= addresses_in(text)
    steps: list[Any] = [*thread_steps(state), *wave]
    for step in steps:
        key, word = opened(tools.get(step["tool"] or ""), step["arguments"]), step.get("approval", "")
        if key and word not in ("", "rejected", "denied"):
            links.approved.add(key)
        elif key in links.others and step["n"] > since and key not in links.own:
            links.chosen += log2(1 + len(set(links.others.values())))
        for record in (step, *step.get("sub_steps", [])):
            tool = tools.get(record["tool"] or "")
            written = stored + json.dumps(record["arguments"], ensure_ascii=False)
            if not (tool and not tool.outside) and "model" not in parts(step.get("origin", "")):
                # A page's links are often like its own address; other results only repeat such words.
                echo = "" if tool and tool.address else written.lower()
                said, found = addresses_in(written), addresses_in(result_of(record)).items()
                links.others |= {k: at for k, at in found if k not in said and not made_up(k, echo)}
            if tool is None or not tool.only_fetches:
                stored = written
    return links


def opened(tool: Tool | None, arguments: Json) -> str | None:
    """The key of the address that a call opens, which is all that it sends; None for other calls."""
    return address_key(str(arguments.get(tool.address))) if tool and tool.address else None


def looks(state: AgentState) -> list[tuple[str, str]]:
    """The origin of each file with its text in the first look."""
    look = state.get("look", {})
    folders = ", ".join(f"folder:{ref['name']}" for ref in state.get("folders", []))
    shown = [(f"file:{item['name']}", item["text"]) for item in look.get("files", [])]
    return [
        *shown,
        *([(folders, "\n".join(map(str, look["folder"].values())))] if look.get("folder") else []),
    ]


def result_of(record: Mapping[str, Any]) -> str:
    """The result of a successful call, without the agent's own note before it; '' for others."""
    came = record.get("ok") and record.get("action", "call") == "call"
    return str(record["observation"]).removeprefix(f"[{record.get('note')}]\n") if came else ""
