"""The run of `chat_examples` as records of steps, written for the tests after real files."""

from __future__ import annotations

from typing import Any

from tests.forethought.trajectories.chat_examples import ANSWER, FUNCTION, SEEN, SYSTEM, TASK, THOUGHT

Json = dict[str, Any]
_TOOL_CALL = {"id": "a", "function": {"name": "find", "arguments": {"parcel": 7}}}
_ASKED = [
    {"role": "system", "content": [{"type": "text", "text": SYSTEM}]},
    {"role": "user", "content": TASK},
]
_ERROR = {"type": "AgentToolExecutionError", "message": "no such parcel"}
SMOLAGENTS: Json = {
    "output": ANSWER,
    "state": "success",
    "steps": [
        {"task": TASK, "task_images": None},
        {
            "step_number": 1,
            "model_input_messages": _ASKED,
            "model_output": THOUGHT,
            "tool_calls": [_TOOL_CALL],
            "observations": SEEN,
            "error": None,
        },
        {
            "step_number": 2,
            "model_input_messages": _ASKED,
            "model_output": THOUGHT,
            "tool_calls": [],
            "model_output_message": {"role": "assistant", "tool_calls": [_TOOL_CALL]},
            "observations": None,
            "error": _ERROR,
        },
        {
            "step_number": 3,
            "model_output": "",
            "tool_calls": [{"function": {"name": "final_answer", "arguments": {"answer": ANSWER}}}],
            "observations": ANSWER,
            "error": None,
            "is_final_answer": True,
        },
    ],
}


def node(kind: str, said: str, *children: Json, **more: Any) -> Json:
    """A node of a search tree."""
    return {"node_type": kind, "description": said, "children": list(children), **more}


_FINISH = '{"return_type": "give_answer", "final_answer": "It is on 3."}'
_END = node("Action", "Finish", node("Action Input", _FINISH, observation="", observation_code=3))
_BAD = node("Thought", THOUGHT, node("Action", "find", node("Action Input", "{}", observation="no parcel")))
_GOOD = node(
    "Thought", THOUGHT, node("Action", "find", node("Action Input", '{"parcel": 7}', _END, observation=SEEN))
)
DFS: Json = {
    "win": True,
    "tree": {"size": 9, "tree": node("Action Input", "", _BAD, _GOOD)},
    "forward_args": {"single_chain_max_step": 12, "max_query_count": 200},
    "answer_generation": {
        "query": TASK,
        "final_answer": _FINISH,
        "function": [FUNCTION, {"name": "Finish"}],
        "train_messages": [[{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]],
    },
}
COT: Json = {
    "win": False,
    "trys": [
        {"chain": [node("Action", "find"), node("Action Input", '{"parcel": 7}', observation=SEEN)]},
    ],
    "forward_args": {"single_chain_max_step": 2},
    "answer_generation": {"query": TASK, "final_answer": "", "function": [FUNCTION], "train_messages": []},
}


def detail(role: str, message: Any, *following: Json) -> Json:
    """An entry of a prediction's details."""
    return {"role": role, "message": message, "next": list(following)}


PREDICTIONS: Json = {
    "588": {
        "query": TASK,
        "available_tools": [FUNCTION],
        "answer": {
            "method": "CoT",
            "final_answer": _FINISH,
            "answer_details": [
                detail(
                    "system",
                    "",
                    detail(
                        "assistant",
                        THOUGHT,
                        detail(
                            "tool",
                            {"name": "find", "arguments": '{"parcel": 7}', "response": SEEN},
                            detail("tool", {"name": "Finish", "arguments": _FINISH, "response": ""}),
                        ),
                    ),
                )
            ],
        },
    }
}
