"""A small run in each format, written for the tests. What must never reach a trajectory is marked GOLD."""

from __future__ import annotations

from typing import Any

REACT = """

########################################
BEGIN TRIAL 1
Trial summary: Correct: 1, Incorrect: 1, Halted: 1
#######################################
------------- BEGIN CORRECT AGENTS -------------

Question: Which river runs through Bern?
Thought 1: I should look for Bern.
Action 1: Search[Bern]
Observation 1: Bern is a town.
Question: this line belongs to the page, as does the next.
Thought 9: so does this one.

It lies on the Aare.
Thought 2: The Aare, then.
Action 2: Finish[Aare]
Observation 2: Answer is CORRECT
Correct answer: GOLD Aare

------------- BEGIN INCORRECT AGENTS -----------

Question: How high is the Niesen?"You have attempted to answer following question before and failed.
Reflections:
- I gave up too soon.
- I trusted a sign.
Thought 1: I know it.
Action 1: Finish[2000]
Observation 1: Answer is INCORRECT
Correct answer: GOLD 2362

------------- BEGIN HALTED AGENTS --------------

Question: Who built the clock tower?
Thought 1: Search it.
Action 1: Search[clock tower]
Observation 1: Could not find [clock tower].
Thought 2: Again.
Action 2: Search[clock tower]
Observation 2: Could not find [clock tower].
Correct answer: GOLD nobody

########################################
BEGIN TRIAL 2
Trial summary: Correct: 1, Incorrect: 0, Halted: 0
#######################################
------------- BEGIN CORRECT AGENTS -------------

Question: Which river runs through Bern?
Thought 1: I should look for Bern.
Action 1: Search[Bern]
Observation 1: Bern is a town.
Question: this line belongs to the page, as does the next.
Thought 9: so does this one.

It lies on the Aare.
Thought 2: The Aare, then.
Action 2: Finish[Aare]
Observation 2: Answer is CORRECT
Correct answer: GOLD Aare

Question: Which river runs through Bern?
Correct answer: GOLD Aare
"""

_RULES = """Solve a question with Thought, Action, Observation steps.
(1) Search[entity], which shows a page.
"""
_EARLIER = """You have attempted to answer following question before and failed. Use the reflections.
Reflections:
- Question: is a word that I wrote.

"""
_LAKE = f"""{_RULES}Question: Which lake is deeper?
Thought 1: Search[Thun]
Action 1: Search[Thun]
Observation 1: Could not find [Thun].
Thought 2: Finish[Thun]
Action 2: Finish[Thun]
Observation 2: Answer is CORRECT
Correct answer: GOLD Thun

"""
_PASS = """Question: Which pass is higher?
Thought 1: Finish[{answer}]
Action 1: Finish[{answer}]
Observation 1: Answer is INCORRECT
Correct answer: GOLD Susten
"""
REACT_WITH_RULES = f"""
########################################
BEGIN TRIAL 1
Trial summary: Correct: 1, Incorrect: 1, Halted: 0
#######################################
------------- BEGIN CORRECT AGENTS -------------

{_LAKE}------------- BEGIN INCORRECT AGENTS -----------

{_RULES}{_PASS.format(answer="Grimsel")}
------------- BEGIN HALTED AGENTS -----------


########################################
BEGIN TRIAL 2
Trial summary: Correct: 1, Incorrect: 1, Halted: 0
#######################################
------------- BEGIN CORRECT AGENTS -------------

{_LAKE}------------- BEGIN INCORRECT AGENTS -----------

{_RULES}{_EARLIER}{_PASS.format(answer="Furka")}
------------- BEGIN HALTED AGENTS -----------

"""
"""The form of the newer logs: rules and reflections stand above each question, without a blank line."""

MESSAGES: list[Any] = [
    {"role": "system", "content": "You sort parcels."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Where is parcel 7?"}, {"type": "image_url", "image_url": {}}],
    },
    {
        "role": "assistant",
        "content": "I look it up.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"parcel": 7}'}},
            {"id": "b", "type": "function", "function": {"name": "ping", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "shelf 3"},
    {"role": "tool", "tool_call_id": "b", "content": "no route", "status": "error"},
    {"role": "critic", "content": "hurry up"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "fetch", "arguments": '{"shelf": 3}'}}],
    },
    {"role": "function", "name": "fetch", "content": "here it is"},
    {"role": "assistant", "content": "It is on shelf 3."},
    {"role": "user", "content": "thanks"},
]

BENCH: dict[str, Any] = {
    "metadata": {
        "task_id": "t-1",
        "task": "put a mug on the desk",
        "won": False,
        "environment": "alfworld",
        "gold": "GOLD",
        "critical_failure_step": "GOLD",
    },
    "chat_history": [
        {"role": "user", "content": "You see a shelf. Admissible: go, take."},
        {"role": "assistant", "content": "<plan>go to the shelf</plan><action>go shelf 1</action>"},
        {"role": "user", "content": "A mug is on it."},
        {
            "role": "assistant",
            "content": "<memory_recall>a mug</memory_recall><reflection>good</reflection>"
            "<plan>done <plan>x</plan><answer>mug placed</answer>",
        },
        {"role": "user", "content": "Nothing happens."},
    ],
}

TAU: list[Any] = [
    {
        "task_id": 4,
        "reward": 0.0,
        "trial": 1,
        "info": {"task": {"instruction": "GOLD", "actions": [{"name": "GOLD"}], "outputs": ["GOLD 12"]}},
        "traj": [
            {"role": "system", "content": "# Airline Agent Policy"},
            {"role": "user", "content": "Cancel my booking."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "function": {"name": "cancel", "arguments": '{"id": "Z"}'}}],
            },
            {"role": "tool", "tool_call_id": "1", "name": "cancel", "content": "Error: no such booking"},
            {"role": "assistant", "content": "I cannot find it."},
            {"role": "user", "content": "###STOP###"},
            {"role": "user", "content": "###STOP###"},
        ],
    }
]
