"""Text of a model as the person may see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from forethought.nodes.support.inert_text import inert
from forethought.nodes.support.links import links_of
from forethought.nodes.support.origins import influence
from forethought.state.agent import AgentState
from forethought.tools.base import Tool


def for_person(text: str, state: AgentState, tools: Mapping[str, Tool]) -> str:
    """`text` as it may be shown: untouched in a thread without anything from outside."""
    return person_view(state, tools)(text)


def person_view(state: AgentState, tools: Mapping[str, Tool]) -> Callable[[str], str]:
    """`for_person` for several texts."""
    if not influence(state, tools).outside:
        return lambda text: text
    links = links_of(state, tools)
    return partial(inert, known={*links.own, *links.others, *links.approved})
