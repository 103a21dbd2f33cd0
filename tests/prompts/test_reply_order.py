"""A model decoded by a strict schema commits field by field: findings and reasons stand before what follows.

A row holds the fields of an object in a reply's schema; `<` parts those that have to be written first from
those that rest on them. Rows of objects inside a reply are named by their path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from forethought.evals.prompts import render as render_evaluation
from forethought.models.ask import Models
from forethought.models.types import Message, ModelError
from forethought.nodes.support.services import Services
from forethought.settings import Settings
from forethought.trajectories.types import MODULES
from tests.forethought.evals.prompts.test_prompts import CASES as EVALUATIONS
from tests.forethought.evals.prompts.test_prompts import SPECS as EVALUATION_SPECS
from tests.prompts.test_golden_prompts import CASES as GOLDEN_CASES
from tests.prompts.test_golden_schemas import SPECS
from tests.support.model_server import Fault, ModelServer

SUBTASK = "id description depends_on < calls < finishes expected"
PATTERN = "case run text"
QUOTE = "run step quote"
DEFECT = "evidence < defect < effect < mend"
ORDER = {
    "Plan": "advice known open < subtasks < answer discard < defects",
    "Plan.subtasks": SUBTASK,
    "PlanDiagnosis": "situation tool_notes < errors < subtasks",
    "PlanDiagnosis.subtasks": SUBTASK,
    "Plan.defects": DEFECT,
    "PlanDiagnosis.errors": "evidence < risk < error_type",
    "PlanRevision": "changes < subtasks",
    "PlanRevision.subtasks": SUBTASK,
    **{f"{name}.subtasks.calls": "tool < arguments" for name in ("Plan", "PlanDiagnosis")},
    "ToolChoice": "thought surprise < action < tool arguments finishes result reason expected < defects",
    "ToolChoice.defects": DEFECT,
    "AnswerDraft": "checks findings < answer < work advice used_steps < defects expected_reply",
    "WordedAdvice": "kind name applies wrong instead replaces",
    "AdviceDraft": "diagnosis < replaces kind name applies wrong instead failure success",
    "AnswerDraft.checks": "about < done < ok",
    "AnswerCheck": "checks < work",
    "AnswerCheck.checks": "about < done < ok",
    "AnswerDraft.defects": DEFECT,
    "ForesightVerdict": "difference < deviation < reflection < replan",
    "RoundReflection": "reflection",
    "DocumentAnswer": "details context < brief",
    "Rows": "rows",
    "Rows.rows": "document < text number date yes_no",
    **{f"Rows.rows.{kind}": "quote < value" for kind in ("text", "number", "date", "yes_no")},
    "StepLabels": " ".join(MODULES),
    **{f"StepLabels.{module}": "evidence reasoning < error_type" for module in MODULES},
    "Triage": "suspects",
    "Triage.suspects": "reason < step",
    "CriticalError": "cascading_effects root_cause evidence < critical_step < critical_module < error_type"
    " < correction_guidance",
    "CriticalError.cascading_effects": "step impact",
    "FailurePoint": "reason < step < module < error_type < suggestion",
    "Salvage": "reasoning < saved",
    "Substitution": "thought < action",
    "Judgement": "reasoning < correct",
    "SelfFeedback": "feedback",
    "Candidates": "actions",
    "CandidateValues": "values",
    "ModularStep": "memory < reflection < planning < action",
    "ComparativeDiagnosis": "comparison < errors",
    "ComparativeDiagnosis.errors": "failure_evidence impact success_evidence avoided < description"
    " < error_type",
    "ComparativeDiagnosis.errors.failure_evidence": QUOTE,
    "ComparativeDiagnosis.errors.success_evidence": QUOTE,
    "Aggregation": "reasoning < decision < name description",
    "PatternSet": "failures successes",
    "PatternSet.failures": PATTERN,
    "PatternSet.successes": PATTERN,
    "TrialReflection": "comparison < reflection",
    "TaxonomyGrowth": "rationale < new_types",
    "TaxonomyGrowth.new_types": "definition < name",
    "StepLabels_synthesizer": "steps",
    "StepLabels_synthesizer.steps": "step errors",
    "StepLabels_synthesizer.steps.errors": "critique < error_type",
    "TypeReflection": "cites < reflection",
    "MergedReflection": "reflection",
    "ReactMove": "thought < action < tool arguments answer",
    "StepPlan": "thought < steps answer",
    "ClosingAnswer": "answer",
    "SelfJudgement": "reasoning < solved",
    "SelfReflection": "reflection",
    "DraftFeedback": "feedback < good",
    "Selection": "reasoning < choice",
    "InsightOperations": "operations",
    "InsightOperations.operations": "operation number text",
    "FactGrade": "reasoning < grade",
    "AnswerStatus": "reason < status",
    "TravelPlan": "days",
    "TravelPlan.days": "current_city transportation breakfast attraction lunch dinner accommodation",
    "CustomerReply": "thought < state < message",
    "AssertionVerdicts": "verdicts",
    "AssertionVerdicts.verdicts": "number < reasoning < holds",
}  # fmt: skip
ALL_SPECS = {**SPECS, **EVALUATION_SPECS}
REPLIES = {
    "planner": "Plan",
    "planner_calls": "Plan_calls",
    "planner_signs": "Plan_auto",
    "reflector": "PlanDiagnosis",
    "reflector_revise": "PlanRevision",
    "reflector_signs": "PlanDiagnosis_auto",
    "tool_agent": "ToolChoice",
    "answer_agent": "AnswerDraft",
    "answer_check": "AnswerCheck",
    "answer_agent_checks": "AnswerDraft_checks",
    "answer_agent_last_checks": "AnswerDraft_last_checks",
    "answer_agent_foresight_user": "AnswerDraft_foresight",
    "planner_advice": "Plan_advice",
    "answer_agent_advice": "AnswerDraft_advice",
    "foresight": "ForesightVerdict",
    "word_advice": "WordedAdvice",
    "learn_reflect": "AdviceDraft",
    "learn_judge": "AssertionVerdicts",
    "inspector": "DocumentAnswer",
    "look": "DocumentAnswer",
    "read_each": "Rows",
    "debug_label": "StepLabels",
    "debug_critical": "CriticalError",
    "debug_triage": "Triage",
    "debug_direct": "FailurePoint",
    "debug_vanilla": "FailurePoint",
    "debug_salvage": "Salvage",
    "debug_substitution": "Substitution",
    "debug_judge": "Judgement",
    "rubric_judge": "AssertionVerdicts",
    "debug_policy": "ModularStep",
    "debug_candidates": "Candidates",
    "debug_values": "CandidateValues",
    "debug_self_refine": "SelfFeedback",
    "distill_diagnose": "ComparativeDiagnosis",
    "distill_aggregate": "Aggregation",
    "distill_patterns": "PatternSet",
    "synthesize_reflect": "TrialReflection",
    "synthesize_types": "TaxonomyGrowth",
    "synthesize_label": "StepLabels_synthesizer",
    "synthesize_error": "TypeReflection",
    "synthesize_merge": "MergedReflection",
    "evals_react": "ReactMove",
    "evals_react_no_tools": "ReactMove_no_tools",
    "evals_answer": "ClosingAnswer",
    "evals_plan": "StepPlan",
    "evals_judge": "SelfJudgement",
    "evals_reflect": "SelfReflection",
    "evals_feedback": "DraftFeedback",
    "evals_select": "Selection",
    "evals_insights": "InsightOperations",
    "evals_simpleqa_judge": "FactGrade",
    "evals_travel_parse": "TravelPlan",
    "evals_stb_answer": "AnswerStatus",
    "evals_stb_execution": "AnswerStatus",
    "evals_user": "CustomerReply",
    "evals_assertions": "AssertionVerdicts",
}
"""Which reply each prompt asks for."""


def objects(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[str]]]:
    """The fields of each object of a reply, in their order; a tool's arguments are the tool's own affair."""
    if "properties" in schema:
        assert schema["required"] == list(schema["properties"]), (
            "some providers decode in the order of `required`"
        )
        yield path, schema["required"]
    for name, child in schema.get("properties", {}).items():
        if name != "arguments":
            yield from objects(child, f"{path}.{name}")
    for inner in (*schema.get("anyOf", ()), *filter(None, [schema.get("items")])):
        yield from objects(inner, path)


@pytest.mark.parametrize("name", ALL_SPECS)
async def test_what_a_verdict_rests_on_is_asked_for_before_it(
    name: str, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(lambda seen: Fault("400"))
    models = Models(settings(server))
    with pytest.raises(ModelError):
        await models.ask(
            role="tool", model="openai:scripted", messages=[Message("user", "?")], reply=ALL_SPECS[name]
        )
    seen = server.requests[0]
    sent = [tool["function"]["parameters"] for tool in seen.body.get("tools", [])] or [seen.schema]
    root = name if name in ORDER else name.partition("_")[0]
    for path, fields in (item for schema in sent for item in objects(schema, root)):
        row = ORDER.get(path, "")
        stage = {field: n for n, group in enumerate(row.split("<")) for field in group.split()}
        assert {*fields} <= {*stage}, f"ORDER[{path!r}] lacks some of {fields}"
        stages = [stage[field] for field in fields]
        assert stages == sorted(stages), f"{path} is sent as {fields}"


PROMPTS = {**GOLDEN_CASES, **{f"evals_{name}": case for name, case in EVALUATIONS.items()}}


def template_of(prompt: str) -> str:
    """The longest name in REPLIES that a case's name begins with, or ''."""
    return max((name for name in REPLIES if f"{prompt}_".startswith(f"{name}_")), key=len, default="")


@pytest.mark.parametrize("prompt", list(filter(template_of, PROMPTS)))
def test_a_prompt_names_the_fields_in_the_order_of_the_schema(prompt: str, services: Services) -> None:
    case, name = PROMPTS[prompt], REPLIES[template_of(prompt)]
    if isinstance(case, tuple):
        text = render_evaluation(case[0], **case[1])[0]
    else:
        text = "\n".join(message.text for message in case(services))
    asked = re.split(r"\n# Reply\n|\nReply with a JSON object|\nCall exactly one function", text)[-1]
    for path, fields in objects(ALL_SPECS[name].schema, name):
        named = [re.search(rf"""[`"{{ ]{field}[`",}}]""", asked) for field in fields]
        places = [found.start() for found in named if found]
        assert len(places) == len(fields) or prompt not in REPLIES, f"{path}: not all of {fields} are named"
        assert places == sorted(places), f"{path}: {fields} are named in another order"
