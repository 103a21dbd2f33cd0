"""Every reply schema that is sent, against the files in golden/ and against what hosted models accept."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from forethought.models.types import ReplySpec, reply_spec
from forethought.nodes.support.answer_reply import answer_spec
from forethought.nodes.support.diagnosis import diagnosis_spec
from forethought.nodes.support.plan_reply import plan_spec
from forethought.prompts.debug_replies import (
    Candidates,
    CandidateValues,
    CriticalError,
    FailurePoint,
    Judgement,
    ModularStep,
    Salvage,
    SelfFeedback,
    StepLabels,
    Substitution,
    Triage,
)
from forethought.prompts.distill_replies import Aggregation, ComparativeDiagnosis, PatternSet
from forethought.prompts.learn_replies import AdviceDraft
from forethought.prompts.replies import (
    AnswerCheck,
    DocumentAnswer,
    ForesightVerdict,
    PlanRevision,
    RoundReflection,
    WordedAdvice,
)
from forethought.prompts.rows import rows_spec
from forethought.prompts.synthesize_replies import (
    MergedReflection,
    TaxonomyGrowth,
    TrialReflection,
    TypeReflection,
)
from forethought.prompts.synthesize_replies import StepLabels as StretchLabels
from forethought.prompts.tool_choice import tool_choice_spec
from forethought.settings import Settings
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.state.experience import Experience
from forethought.tools.each.fields import FieldSpec, Kind
from forethought.tools.read_file import READ_FILE
from forethought.tools.registry import toolbox
from tests.support.agent import World
from tests.support.golden import check_golden
from tests.support.sample_state import look
from tests.support.strict_subset import gemini_faults, openai_faults

GOLDEN = Path(__file__).with_name("golden")
ONE_TOOL = {"lookup": World().tool()}
TOOLS = {"read_file": READ_FILE, **ONE_TOOL}
BEGUN: AgentState = {"progress": {"round": 1}}
PAPER = Context(effort="paper")
CHECKED = Context(effort="auto")
BARE = Context(tool_intra=False, replanning=False, foresight="off")
BARE_FUNCTIONS = BARE.model_copy(update={"proposals": "functions"})
ADVISED: Experience = {
    "shown": [
        {"id": "1", "name": "n", "kind": "rule", "source": "", "text": "t", "failure": "", "success": ""}
    ]
}
SPECS: dict[str, ReplySpec[Any]] = {
    "Plan": plan_spec(BEGUN, PAPER, {}),
    "Plan_no_intra": plan_spec(BEGUN, PAPER.model_copy(update={"plan_intra": False}), {}),
    "Plan_auto": plan_spec({**BEGUN, "look": look()}, Context(effort="auto"), TOOLS),
    "PlanDiagnosis": diagnosis_spec(("first_error", "second_error"), PAPER, {}),
    "PlanDiagnosis_no_planning_errors": diagnosis_spec((), PAPER, {}),
    "PlanDiagnosis_auto": diagnosis_spec(("first_error",), Context(effort="auto"), TOOLS),
    "PlanRevision": reply_spec(PlanRevision),
    "Plan_calls": plan_spec(BEGUN, Context(effort="auto"), TOOLS),
    "AnswerDraft": answer_spec(PAPER, mends=True),
    "AnswerDraft_no_intra": answer_spec(PAPER.model_copy(update={"answer_intra": False}), mends=True),
    "AnswerDraft_checks": answer_spec(CHECKED, mends=True),
    "AnswerDraft_last_checks": answer_spec(CHECKED, mends=False),
    "AnswerDraft_foresight": answer_spec(PAPER.model_copy(update={"foresight": "user"}), mends=True),
    "AnswerDraft_foresight_no_intra": answer_spec(
        PAPER.model_copy(update={"foresight": "both", "answer_intra": False}), mends=True
    ),
    "AnswerCheck": reply_spec(AnswerCheck),
    "ForesightVerdict": reply_spec(ForesightVerdict),
    "Plan_advice": plan_spec({**BEGUN, "experience": ADVISED}, Context(effort="auto"), TOOLS),
    "AnswerDraft_advice": answer_spec(CHECKED, mends=True, advised=True),
    "WordedAdvice": reply_spec(WordedAdvice),
    "AdviceDraft": reply_spec(AdviceDraft),
    "RoundReflection": reply_spec(RoundReflection),
    "DocumentAnswer": reply_spec(DocumentAnswer),
    "Rows": rows_spec([FieldSpec(name=kind, type=kind) for kind in get_args(Kind)], 2),
    **{
        kind.__name__: reply_spec(kind)
        for kind in (
            StepLabels,
            CriticalError,
            Triage,
            Triage,
            FailurePoint,
            Salvage,
            Substitution,
            Judgement,
            SelfFeedback,
            Candidates,
            CandidateValues,
            ModularStep,
            *(ComparativeDiagnosis, Aggregation, PatternSet),
            *(TrialReflection, TaxonomyGrowth, TypeReflection, MergedReflection),
        )
    },
    "StepLabels_synthesizer": reply_spec(StretchLabels),
    "ToolChoice": tool_choice_spec(ONE_TOOL, PAPER),
    "ToolChoice_asking": tool_choice_spec(ONE_TOOL, PAPER.model_copy(update={"foresight": "user"})),
    "ToolChoice_bare": tool_choice_spec(ONE_TOOL, BARE),
    "ToolChoice_functions": tool_choice_spec(ONE_TOOL, PAPER.model_copy(update={"proposals": "functions"})),
    "ToolChoice_functions_bare": tool_choice_spec(
        ONE_TOOL, BARE.model_copy(update={"proposals": "functions"})
    ),
}


def shapes(spec: ReplySpec[Any]) -> dict[str, Any]:
    """The schemas that are sent: of the reply, or of the functions offered."""
    if not spec.functions:
        return {spec.name: spec.schema}
    return {function.name: function.parameters for function in spec.functions}


@pytest.mark.parametrize("name", SPECS)
def test_schema(name: str) -> None:
    text = json.dumps(shapes(SPECS[name]), indent=1, ensure_ascii=False) + "\n"
    check_golden(GOLDEN / f"{name}.json", text)


def test_there_is_no_golden_file_that_nothing_checks() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_schema_is_named_as_the_reply_and_accepted(name: str) -> None:
    spec = SPECS[name]
    assert spec.name == name.split("_")[0]
    assert spec.strict
    for shape in shapes(spec).values():
        assert openai_faults(shape) == []
        assert gemini_faults(shape) == []


@pytest.mark.parametrize("functions", [False, True])
def test_the_built_in_tools_fit_in_every_combination(
    settings: Callable[..., Settings], functions: bool
) -> None:
    tools = toolbox(settings())
    for flags in product([False, True], repeat=3):
        context = Context(
            tool_intra=flags[0],
            replanning=flags[1],
            foresight="tools" if flags[2] else "off",
            proposals="functions" if functions else "json",
        )
        spec = tool_choice_spec(tools, context)
        assert spec.strict
        for shape in shapes(spec).values():
            assert openai_faults(shape) == []
            assert gemini_faults(shape) == []
        if functions:
            assert set(shapes(spec)) == {*tools, "finish", *(["replan"] if flags[1] else [])}
