"""The packaged error types and their spellings."""

import pytest

from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.trajectories.types import MODULES

TABLE_2 = {
    "memory": {"over_simplification", "hallucination", "retrieval_failure"},
    "reflection": {
        "progress_misassessment",
        "outcome_misinterpretation",
        "causal_misattribution",
        "hallucination",
    },
    "planning": {"constraint_ignorance", "impossible_action", "inefficient_planning"},
    "action": {"planning_action_disconnect", "format_error", "parameter_error"},
    "system": {"step_limit", "tool_execution_error", "llm_limit", "environment_error"},
}
SPELLINGS = [
    ("memory", "memory_retrieval_failure", "retrieval_failure"),
    ("reflection", "progress_misjudge", "progress_misassessment"),
    ("planning", "inefficient_plan", "inefficient_planning"),
    ("action", "misalignment", "planning_action_disconnect"),
    ("action", "invalid_action", "format_error"),
    ("others", "others", "environment_error"),
    ("memory", "Over-simplification / Incomplete Summary", "over_simplification"),
    ("memory_recall", "false memory", "hallucination"),
    ("Plan", "planning/constraint_ignorance", "constraint_ignorance"),
    ("action", "Planning–Action Disconnect", "planning_action_disconnect"),
    ("system", "Step Limit Exhaustion", "step_limit"),
]
"""The names of the paper's own code, and what models write."""


def test_the_packaged_file_is_table_2():
    taxonomy = load_taxonomy()
    assert {module: {kind.name for kind in taxonomy.types(module)} for module in MODULES} == TABLE_2


@pytest.mark.parametrize(("module", "name", "canonical"), SPELLINGS)
def test_spellings(module, name, canonical):
    assert load_taxonomy().resolve(module, name) == canonical
    assert load_taxonomy().problem(module, name) is None


@pytest.mark.parametrize(
    ("module", "name"),
    [("planning", "hallucination"), ("memory", "no_error"), ("memory", ""), ("x", "step_limit")],
)
def test_a_type_belongs_to_its_module(module, name):
    assert load_taxonomy().resolve(module, name) is None


def test_a_problem_lists_the_types_of_the_module_in_one_line():
    problem = load_taxonomy().problem("planning", "hallucination\n" * 50)
    assert problem is not None
    assert "\n" not in problem
    assert len(problem) < 300
    assert all(name in problem for name in TABLE_2["planning"])
    assert "memory and reflection" in (load_taxonomy().problem("planning", "hallucination") or "")
    assert "memory, reflection, planning" in (load_taxonomy().problem("muscle", "cramp") or "")


def test_the_prompt_text_has_every_definition_and_example():
    taxonomy = load_taxonomy()
    text = taxonomy.text()
    for module in taxonomy.modules:
        for kind in module.types:
            assert f"- {kind.name}: {kind.definition}" in text
            assert kind.example in text
