"""A small run in each form of messages, written for the tests after real files of each.

All tell of one run, unless said otherwise: parcel 7 is looked for, found on shelf 3, and told of.
"""

from __future__ import annotations

import json
from typing import Any

SYSTEM, TASK, THOUGHT, SEEN, ANSWER = (
    "You sort parcels.",
    "Where is 7?",
    "I look it up.",
    "shelf 3",
    "It is on 3.",
)
CALL = {"name": "find", "arguments": '{"parcel": 7}'}
FUNCTION = {"name": "find", "description": "Find it.", "parameters": {"properties": {"parcel": {}}}}
CHAT: list[Any] = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": TASK},
    {"role": "assistant", "content": THOUGHT, "tool_calls": [{"id": "a", "function": CALL}]},
    {"role": "tool", "tool_call_id": "a", "content": SEEN},
    {"role": "assistant", "content": ANSWER},
]
RESPONSE: dict[str, Any] = {
    "object": "response",
    "instructions": SYSTEM,
    "tools": [{"type": "function", **FUNCTION}],
    "input": [{"role": "user", "content": [{"type": "input_text", "text": TASK}]}],
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]},
        {"type": "function_call", "call_id": "a", **CALL},
        {"type": "function_call_output", "call_id": "a", "output": SEEN},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
    ],
}
RESPONSE_ITEMS: list[Any] = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": TASK},
    *RESPONSE["output"],
]
AGENTS_STATE: dict[str, Any] = {
    "$schemaVersion": "1.11",
    "original_input": RESPONSE_ITEMS[:2],
    "generated_items": [{"type": "x", "raw_item": item} for item in RESPONSE["output"]],
    "max_turns": 10,
}
SHARE_GPT: dict[str, Any] = {
    "conversations": [
        {"from": "human", "value": TASK},
        {"from": "function_call", "value": '{"name": "find", "arguments": {"parcel": 7}}'},
        {"from": "observation", "value": SEEN},
        {"from": "gpt", "value": ANSWER},
    ],
    "system": SYSTEM,
    "tools": json.dumps([FUNCTION]),
}
LLAMA_FACTORY: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": [{"type": "text", "value": SYSTEM}]},
        {"role": "user", "content": [{"type": "text", "value": TASK}]},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "value": THOUGHT},
                {"type": "tool_call", "value": '{"name": "find", "arguments": {"parcel": 7}}'},
            ],
        },
        {"role": "tool", "content": [{"type": "text", "value": SEEN}]},
        {"role": "assistant", "content": [{"type": "text", "value": ANSWER}]},
    ],
    "tools": json.dumps([FUNCTION]),
}
LANGCHAIN: list[Any] = [
    {"lc": 1, "type": "constructor", "id": ["langchain", "SystemMessage"], "kwargs": {"content": SYSTEM}},
    {"type": "human", "data": {"content": TASK, "type": "human"}},
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {
            "content": THOUGHT,
            "type": "ai",
            "tool_calls": [{"name": "find", "args": {"parcel": 7}, "id": "a", "type": "tool_call"}],
        },
    },
    {"type": "tool", "content": SEEN, "tool_call_id": "a", "status": "success"},
    {"type": "ai", "content": ANSWER, "response_metadata": {"finish_reason": "stop"}},
]
PYDANTIC_AI: list[Any] = [
    {
        "kind": "request",
        "instructions": None,
        "parts": [
            {"part_kind": "system-prompt", "content": SYSTEM},
            {"part_kind": "user-prompt", "content": TASK},
        ],
    },
    {
        "kind": "response",
        "parts": [
            {"part_kind": "thinking", "content": THOUGHT},
            {"part_kind": "tool-call", "tool_name": "find", "args": {"parcel": 7}},
        ],
    },
    {
        "kind": "request",
        "parts": [{"part_kind": "tool-return", "content": SEEN, "tool_name": "find", "outcome": "success"}],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": ANSWER}]},
]
INSPECT: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "parcels", "task_id": "x", "model": "m"},
    "samples": [
        {
            "id": "p7",
            "epoch": 2,
            "input": TASK,
            "target": "GOLD 3",
            "files": ["map.txt"],
            "messages": [
                {"role": "system", "content": "attachment://s"},
                {"role": "user", "content": TASK},
                {
                    "role": "assistant",
                    "content": THOUGHT,
                    "tool_calls": [{"id": "a", "function": "find", "arguments": {"parcel": 7}}],
                },
                {"role": "tool", "tool_call_id": "a", "function": "find", "content": SEEN},
                {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
            ],
            "output": {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
            "scores": {"match": {"value": "I", "answer": ANSWER}, "includes": {"value": "C"}},
            "events": [
                {
                    "event": "model",
                    "model": "m",
                    "input": [],
                    "tools": [FUNCTION],
                    "tool_choice": "auto",
                    "config": {},
                    "output": {},
                }
            ],
            "attachments": {"s": SYSTEM},
            "limit": {"type": "message", "limit": 5},
        }
    ],
}
TAU2: dict[str, Any] = {
    "info": {"environment_info": {"domain_name": "parcels", "policy": SYSTEM}},
    "tasks": [{"id": "4", "evaluation_criteria": {"actions": ["GOLD"]}, "user_scenario": "GOLD"}],
    "simulations": [
        {
            "id": "s1",
            "task_id": "4",
            "trial": 0,
            "termination_reason": "max_steps",
            "reward_info": {"reward": 0.0},
            "messages": [
                {"role": "assistant", "content": "Hi!"},
                {"role": "user", "content": TASK},
                {"role": "assistant", "content": None, "tool_calls": [{**CALL, "requestor": "assistant"}]},
                {"role": "tool", "content": SEEN, "requestor": "assistant", "error": False},
                {"role": "assistant", "content": ANSWER},
                {"role": "user", "content": None, "tool_calls": [{"name": "peek", "requestor": "user"}]},
                {"role": "tool", "content": "GOLD", "requestor": "user"},
            ],
        }
    ],
}
MINI_SWE: dict[str, Any] = {
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "repo-1",
    "info": {"exit_status": "LimitsExceeded", "submission": ""},
    "messages": [
        *CHAT[:2],
        {
            "role": "assistant",
            "content": "THOUGHT: look\n```mswea_bash_command\nls\n```",
            "extra": {"actions": [{"command": "ls"}]},
        },
        {"role": "user", "content": "<returncode>0</returncode>"},
        {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded"}},
    ],
}
SWE_AGENT: dict[str, Any] = {
    "environment": "main",
    "info": {"exit_status": "submitted (exit_cost)", "submission": "diff --git"},
    "history": [
        {"role": "system", "content": SYSTEM, "agent": "main"},
        {"role": "user", "content": "A demonstration", "is_demo": True},
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": "whatever"},
    ],
    "trajectory": [
        {"action": "ls\n", "observation": "a.py", "thought": THOUGHT, "response": "...", "state": "{}"},
        {"action": "submit", "observation": "diff --git", "thought": "Done.", "response": "..."},
    ],
}
EXECUTOR: dict[str, Any] = {
    "input": TASK,
    "output": ANSWER,
    "intermediate_steps": [
        [{"tool": "find", "tool_input": {"parcel": 7}, "log": THOUGHT}, SEEN],
    ],
}
