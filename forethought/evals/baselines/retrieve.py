"""Retrieve, then answer: the best passages of the files for the task, and one call (Lewis et al. 2020).

START -> begin -> search -> answer -> close -> END

Departure: the passages come from our index of the files (BM25), not from embeddings.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.loop import Graph, begin, close, everything
from forethought.evals.baselines.state import Move, State, moves_of
from forethought.evals.baselines.transcript import shown
from forethought.evals.prompts.baseline_replies import ClosingAnswer
from forethought.models.types import reply_spec

PASSAGES = 40
_ROOM = 60_000
"""Characters of all passages."""


class Retrieve(Baseline):
    """One search, one call."""

    name = "retrieve"
    about = f"retrieve, then answer: the {PASSAGES} best passages of the files, one call (Lewis et al. 2020)"

    def wire(self, bench: Bench) -> Graph:
        """See Baseline."""
        graph: Graph = StateGraph(State)
        first = partial(begin, bench=bench, share=everything)
        steps = {"search": _search, "answer": _answer, "close": close}
        graph.add_sequence(
            [("begin", first), *((name, partial(step, bench=bench)) for name, step in steps.items())]
        )
        graph.add_edge(START, "begin")
        graph.add_edge("close", END)
        return graph


async def _search(state: State, *, bench: Bench) -> dict[str, Any]:
    query = bench.trial.sample.task
    hits = await asyncio.to_thread(bench.access["folders"].search, query, PASSAGES)
    texts, room = list[str](), _ROOM
    for hit in hits:
        texts.append(f"{hit.name}, {hit.place}:\n{hit.text}")
        room -= len(texts[-1])
        if room < 0:
            break
    move = Move(
        n=1,
        attempt=state["number"],
        thought="",
        action="call",
        tool="search_files",
        arguments={"query": query},
        answer="",
        observation="\n\n".join(texts) or "nothing was found",
        ok=True,
        cause="",
    )
    return {"moves": [move]}


async def _answer(state: State, *, bench: Bench) -> dict[str, Any]:
    """Ask for the answer. Raises ReplyError."""
    said = await bench.ask(
        "answer", reply_spec(ClosingAnswer), task=state["task"], files="", plan="", **shown(moves_of(state))
    )
    return {"answer": said.answer, "ended": "answered"}
