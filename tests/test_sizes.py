"""The sizes hold together: a part fits an observation, that a prompt, and this the model's window."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from forethought import sizes
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.models.ask import Models
from forethought.models.live import LiveTransport
from forethought.models.pricing import estimate_tokens
from forethought.models.types import Message, ReplySpec, reply_spec
from forethought.nodes.answer_agent import answer_messages
from forethought.nodes.planner import planner_messages
from forethought.nodes.prospective_reflector import reflector_messages
from forethought.nodes.support.answer_reply import answer_spec
from forethought.nodes.support.budget import reserve_tokens
from forethought.nodes.support.plan_reply import plan_spec
from forethought.nodes.support.services import Services
from forethought.nodes.tool_agent import subtask_of, tool_messages
from forethought.prompts.replies import ForeseeingAnswer, Plan, PlanDiagnosis
from forethought.prompts.tool_choice import tool_choice_spec
from forethought.settings import Settings
from forethought.sizes import Sizes
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.state.reply_style import with_style
from forethought.tools.files import FileStore
from forethought.tools.registry import toolbox
from tests.support.sample_state import early

FIGURES = [name for name in vars(sizes) if name.isupper()]
LONGEST = Context(foresight="both", effort="paper")
LEAN = with_style(Context(), lean=True)


def tokens(messages: Sequence[Message], reply: ReplySpec[Any]) -> int:
    """What a prompt takes in which nothing was read yet."""
    return estimate_tokens("".join(message.text for message in messages) + json.dumps(reply.schema))


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Tokens of the fixed text of each role's prompt, with every built-in tool and planning error."""
    made = Settings(data_dir=tmp_path_factory.mktemp("data"))
    services = Services(made, toolbox(made), Models(made), FileStore(made.blobs_dir))
    files: Any = [{"name": f"a.{kind}", "hash": "0" * 64} for kind in ("xlsx", "png", "mp3")]
    state, errors = AgentState(**{**early(), "files": files}), load_planning_errors(None)
    worker, _ = tool_messages(state, subtask_of(state, "read_costs"), services, LONGEST)
    lean, _ = tool_messages(state, subtask_of(state, "read_costs"), services, LEAN)
    return {
        "lean planner": tokens(planner_messages(state, services, LEAN), plan_spec(state, LEAN, {})),
        "lean tool": tokens(lean, tool_choice_spec(services.offered(state), LEAN)),
        "lean answer": tokens(answer_messages(state, services, LEAN), answer_spec(LEAN, mends=True)),
        "planner": tokens(planner_messages(state, services, LONGEST), reply_spec(Plan)),
        "reflector": tokens(reflector_messages(state, services, LONGEST, errors), reply_spec(PlanDiagnosis)),
        "tool": tokens(worker, tool_choice_spec(services.offered(state), LONGEST)),
        "answer": tokens(answer_messages(state, services, LONGEST), reply_spec(ForeseeingAnswer)),
    }


def broken(fixed: dict[str, int]) -> set[str]:
    """The relations that do not hold."""
    least, usual = Sizes(sizes.LEAST_FULL_TOKENS), Sizes(sizes.WINDOW_TOKENS)
    small = Sizes(sizes.LEAST_WINDOW_TOKENS, lean=True)
    lean = max(value for role, value in fixed.items() if role.startswith("lean"))
    found = {
        "every role's prompt fits its fixed part": max(fixed.values()) <= sizes.FIXED_TOKENS,
        "every lean prompt fits its fixed part": lean <= sizes.LEAN_FIXED_TOKENS <= 2 * lean,
        "a lean reply takes an eighth of the smallest window": 0.1
        <= sizes.LEAN_REPLY_TOKENS / sizes.LEAST_WINDOW_TOKENS
        <= 0.15,
        "a full prompt leaves a third of its smallest window": 2_500
        <= sizes.LEAST_FULL_TOKENS - sizes.FIXED_TOKENS - sizes.REPLY_TOKENS
        <= 3_500,
        "the smallest window of all shows half a page": 800 <= small.part <= 1_000,
        "the reserve holds an answer": fixed["answer"] + sizes.REPLY_TOKENS <= sizes.ANSWER_TOKENS,
        "the reserve is no more than a prompt": sizes.ANSWER_TOKENS
        <= sizes.FIXED_TOKENS + sizes.REPLY_TOKENS,
        "the smallest window's part is half a page": 1_150 <= least.part <= 1_350,
        "the usual window shows several observations": 5 <= usual.seen / usual.observation <= 10,
        "a window of 32,000 has the usual first look": Sizes(32_000).looked == usual.looked == usual.part,
        "the smallest window's first look is at most an observation": least.looked <= least.observation,
        "the usual window does not shorten them": usual.observation == sizes.LONGEST_OBSERVATION,
        "usual passages leave room for more than a note": usual.passages <= usual.observation - 1_000,
        "a small share is two to three thousand tokens": 6_000 <= usual.small <= 9_000,
        "a question is put to several observations": usual.observation * 4 <= usual.inspected <= usual.seen,
    }
    for size in (small, least, usual):
        shares = size.seen + size.results + sizes.WRITTEN_KINDS * size.written + size.looked
        found |= {
            f"the shares fill the room of {size.window}": 0.98 * size.material <= shares <= size.material,
            f"an observation is whole of {size.window}": size.observation <= size.seen * 2 // 3,
            f"a result is whole of {size.window}": size.observation <= size.results,
            f"a part and its heading fit of {size.window}": size.part + 500 <= size.observation,
            f"passages and their note fit of {size.window}": 200 <= sizes.NOTE <= 300
            and size.passages + sizes.NOTE <= size.observation,
            f"passages exceed parts of {size.window}": size.observation / 2 < size.part < size.passages,
        }
    return {name for name, holds in found.items() if not holds}


def test_the_sizes_hold_together(fixed: dict[str, int]) -> None:
    assert broken(fixed) == set()


@pytest.mark.parametrize("factor", [0.5, 2])
@pytest.mark.parametrize("name", FIGURES)
def test_no_size_can_be_changed_alone(
    fixed: dict[str, int], monkeypatch: pytest.MonkeyPatch, name: str, factor: float
) -> None:
    value = getattr(sizes, name)
    monkeypatch.setattr(sizes, name, type(value)(value * factor))
    assert broken(fixed)


@pytest.mark.parametrize("window", [8_000, 32_000, 128_000])
def test_the_answers_reserve_holds_all_that_its_prompt_shows(window: int) -> None:
    step = {"n": 1, "task": 1, "observation": "x" * 5_000_000, "arguments": {}}
    state: Any = {"progress": {"task": 1}, "trajectory": [step]}
    context = Context(context_tokens=window, max_tokens=1_000)
    reserve = sizes.ANSWER_TOKENS + Sizes(window).answer // sizes.BYTES_PER_TOKEN
    assert reserve_tokens(state, context) == reserve <= window


@pytest.mark.parametrize(
    ("models", "window"),
    [
        (["openai:gpt-4.1"], 128_000),  # of a million, no more is used
        (["openai:gpt-4.1", "openai:gpt-3.5-turbo"], 16_385),
        (["openai:unheard-of"], 128_000),
    ],
)
def test_the_window_is_that_of_the_smallest_model(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch, models: list[str], window: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert Models(settings()).window(models) == window
    own = settings(context_tokens=9_000)
    assert Models(own).window(models) == 9_000
    assert LiveTransport(settings(base_url="http://127.0.0.1:9/v1")).window(models[0]) is None


def test_without_a_key_no_window_is_known(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert LiveTransport(settings()).window("openai:gpt-4.1") is None
