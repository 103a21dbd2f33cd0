"""The online graph. This file only wires: nodes are in `nodes/`, conditions in `graph/routing.py`.

START -> planner -> prospective_reflector -> (approve_plan) -> replan_trigger
planner -> END | score_keeper -> END (it answered at once, or failed)
replan_trigger -> planner | tool_agent x ready subtasks, side by side | answer_agent
tool_agent -> tool_executor (one each), first also prospective_reflector -> replan_trigger (once a wave)
answer_agent -> END | planner (next round) | replan_trigger (one more subtask) | score_keeper -> END
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from forethought.graph import routing
from forethought.graph.bounded_graph import BoundedGraph
from forethought.graph.node_wrapper import inline_condition, wrap_node
from forethought.models.ask import Models
from forethought.models.chat_objects import ChatObjects
from forethought.models.live import LiveTransport
from forethought.models.types import Transport
from forethought.nodes.answer_agent import answer_agent
from forethought.nodes.approve_plan import approve_plan
from forethought.nodes.planner import planner
from forethought.nodes.prospective_reflector import prospective_reflector
from forethought.nodes.replan_trigger import replan_trigger
from forethought.nodes.score_keeper import score_keeper
from forethought.nodes.support.effort import load_rules
from forethought.nodes.support.services import Services
from forethought.nodes.tool_agent import tool_agent
from forethought.nodes.tool_executor import tool_executor
from forethought.prompts.tool_choice import RESERVED
from forethought.settings import Settings
from forethought.state.agent import AgentInput, AgentOutput, AgentState, Dispatch
from forethought.state.context import Context, Role, as_sent
from forethought.telemetry import enable
from forethought.tools.base import Effect
from forethought.tools.files import FileStore
from forethought.tools.mcp import McpBox
from forethought.tools.mcp_settings import read_servers
from forethought.tools.registry import AnyTool, toolbox

AgentGraph = CompiledStateGraph[AgentState, Context, AgentInput, AgentOutput]

RECURSION_LIMIT = 20_000
"""Above what the counters in state allow (6,000 moves, three supersteps each): they end a run, this never
should."""


def build_agent(
    tools: Sequence[AnyTool] = (),
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    transport: Transport | None = None,
    builtin: Collection[str] | None = None,
    effects: Mapping[str, Effect] | None = None,
    model: BaseChatModel | None = None,
    models: Mapping[str, BaseChatModel] | None = None,
) -> AgentGraph:
    """The compiled agent.

    `tools` (functions, LangChain's tools, ours) are offered besides the built-in ones, or besides those that
    `builtin` names; `effects` says what a tool may do (read, write, egress), by its name: LangChain's count
    as writing unless they say otherwise. `model` is LangChain's chat model that every role asks, or that of
    its name in `models` (planner, reflector, tool, vision, answer, retrospective, fallback), where a run's
    Context names none. `settings` default to the environment's; `transport` carries model calls (the
    providers by default; a recording or a replay otherwise).

    Raises ValueError when a tool or a model is not usable, or the file of MCP servers or of effort's rules is
    malformed.
    """
    settings = settings or Settings()
    if not isinstance(settings, Settings):
        said = f"settings must be Settings, not {type(settings).__name__}; pass a chat model as model=..."
        raise ValueError(said)
    chats = ChatObjects.of(model, models or {}, (*get_args(Role), "fallback"))
    if chats.by_name and transport is not None:
        raise ValueError("model objects and a transport exclude each other: pass one of them")
    if settings.allowed_models:
        allowed = (*settings.allowed_models, *chats.by_name)
        settings = settings.model_copy(update={"allowed_models": allowed})
    enable(settings)
    box = toolbox(settings, tools, builtin, effects)
    if reserved := next((name for name in RESERVED if name in box), None):
        raise ValueError(f"the tool name {reserved} is reserved for a move of the agent: rename the tool")
    load_rules(settings.effort_file)  # a broken file is refused before the first run
    servers = read_servers(settings.mcp_file) if settings.mcp_file else None
    services = Services(
        settings=settings,
        tools=box,
        models=Models(settings, transport or LiveTransport(settings, chats=chats.by_name)),
        store=FileStore.of(settings),
        mcp=McpBox(servers, settings, RESERVED) if servers else None,
        chats=chats.by_field,
    )
    compiled = _wire(services, checkpointed=checkpointer is not False).compile(
        checkpointer=checkpointer, store=store, name="agent"
    )
    return BoundedGraph.of(compiled, settings).with_config(recursion_limit=RECURSION_LIMIT)


def _wire(
    services: Services, *, checkpointed: bool = True
) -> StateGraph[AgentState, Context, AgentInput, AgentOutput]:
    graph = StateGraph(
        AgentState, context_schema=as_sent(Context), input_schema=AgentInput, output_schema=AgentOutput
    )
    for node in (planner, approve_plan, replan_trigger, answer_agent, score_keeper):
        graph.add_node(node.__name__, wrap_node(node, services, checkpointed=checkpointed))
    beside = partial(wrap_node, services=services, checkpointed=checkpointed, side_by_side=True)
    for sent in (tool_agent, tool_executor):
        graph.add_node(sent.__name__, beside(sent), input_schema=Dispatch)
    graph.add_node("prospective_reflector", beside(prospective_reflector))
    ways: dict[str, tuple[Callable[[AgentState], Any], list[str]]] = {
        "planner": (routing.after_planner, ["prospective_reflector", "score_keeper", END]),
        "prospective_reflector": (routing.after_reflector, ["approve_plan", "replan_trigger"]),
        "approve_plan": (routing.after_approval, ["planner", "prospective_reflector", "replan_trigger"]),
        "replan_trigger": (
            routing.after_trigger,
            ["planner", "tool_agent", "answer_agent"],
        ),
        "tool_agent": (routing.after_tool_agent, ["tool_executor", "prospective_reflector"]),
        "answer_agent": (
            routing.after_answer,
            ["planner", "approve_plan", "replan_trigger", "score_keeper", END],
        ),
    }
    graph.add_edge(START, "planner")
    for source, (condition, followers) in ways.items():
        graph.add_conditional_edges(source, inline_condition(condition), followers)
    graph.add_edge("tool_executor", "replan_trigger")
    graph.add_edge("score_keeper", END)
    return graph


def make_agent() -> AgentGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings."""
    return build_agent()
