"""Two tiny service desks of our own, laid out as the public repositories: so that tests need no checkout.

A library lends books. One desk speaks as tau-bench does, the other as tau2; each is written into a folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
BOOKS = {
    "b1": {"title": "Emma", "lent_to": None, "price": 12},
    "b2": {"title": "Ulysses", "lent_to": "m7", "price": 30},
}
POLICY = "Lend a book only if it is not lent to someone else. Hand over what you cannot do."
LEND = {"book_id": "b1", "member": "m1"}
TOOLS = """
import json


def _object(**properties):
    fields = {name: {"type": "string", "description": about} for name, about in properties.items()}
    return {"type": "object", "properties": fields, "required": list(fields)}


def get_book(books, book_id):
    if book_id not in books:
        raise ValueError(f"no book {book_id}")
    return json.dumps(books[book_id])


def lend_book(books, book_id, member):
    book = books[book_id]
    if book["lent_to"]:
        return "Error: it is lent"
    book["lent_to"] = member
    return json.dumps(book)


def transfer_to_human_agents(books, summary):
    return "Transferred."


ALL = {
    "get_book": (get_book, "Look a book up.", _object(book_id="The book's id."), "read"),
    "lend_book": (lend_book, "Lend a book.", _object(book_id="The book's id.", member="For whom."), "write"),
    "transfer_to_human_agents": (transfer_to_human_agents, "Hand over.", _object(summary="Why."), "generic"),
}
"""
_TAU_BENCH = {
    "tau_bench/__init__.py": "",
    "tau_bench/types.py": """
class Action:
    def __init__(self, name, kwargs):
        self.name, self.kwargs = name, kwargs


class Task:
    def __init__(self, **fields):
        self.fields = fields
        self.actions = [Action(item["name"], item["kwargs"]) for item in fields["actions"]]

    def model_dump(self):
        return self.fields
""",
    "tau_bench/envs/__init__.py": """
import importlib
from litellm import completion


def get_env(name, strategy, model, split, task_index=None):
    return importlib.import_module(f"tau_bench.envs.{name}.env").RetailEnv(split)
""",
    "tau_bench/envs/base.py": """
import copy
from types import SimpleNamespace as Record


def load_user(user_strategy, model, provider):
    raise RuntimeError("a model would be asked")


class Env:
    def __init__(self, load, tools, tasks, wiki):
        print("what is printed is no answer")
        self.load, self.tools_map, self.tasks, self.wiki = load, tools, tasks, wiki
        self.tools_info = [
            {"function": {"name": name, "description": about, "parameters": schema}}
            for name, (_, about, schema, _) in tools.items()
        ]
        self.user = load_user(user_strategy="told", model="", provider=None)

    def reset(self, task_index):
        self.books, self.task, self.said = self.load(), self.tasks[task_index], []
        self.user.reset(self.task.fields["instruction"])

    def step(self, action):
        done, reward = False, None
        if action.name == "respond":
            self.said.append(action.kwargs["content"])
            observation = self.user.step(action.kwargs["content"])
            done = "###STOP###" in observation
        else:
            try:
                observation = self.tools_map[action.name][0](self.books, **action.kwargs)
            except Exception as error:
                observation = f"Error: {error}"
            done = action.name == "transfer_to_human_agents"
        if done:
            reward = self.calculate_reward()
        return Record(observation=observation, done=done, info=Record(reward_info=reward))

    def calculate_reward(self):
        books = self.load()
        for action in self.task.actions:
            self.tools_map[action.name][0](books, **action.kwargs)
        same = books == self.books
        outputs = {text: any(text in said for said in self.said) for text in self.task.fields["outputs"]}
        return Record(reward=float(same and all(outputs.values())))
""",
    "tau_bench/envs/retail/__init__.py": "",
    "tau_bench/envs/retail/tools.py": TOOLS,
    "tau_bench/envs/retail/env.py": """
import json
from pathlib import Path
from tau_bench.envs.base import Env
from tau_bench.envs.retail.tools import ALL
from tau_bench.types import Task

HERE = Path(__file__).parent


class RetailEnv(Env):
    def __init__(self, split):
        tasks = [Task(**fields) for fields in json.loads((HERE / f"tasks_{split}.json").read_text())]
        load = lambda: json.loads((HERE / "data/orders.json").read_text())
        super().__init__(load, ALL, tasks, (HERE / "wiki.md").read_text())
""",
    "tau_bench/envs/retail/wiki.md": POLICY,
    "tau_bench/envs/retail/data/orders.json": json.dumps(BOOKS),
}
_TAU2 = {
    "src/tau2/__init__.py": 'raise RuntimeError("the package is not imported as a whole")',
    "src/tau2/data_model/tasks.py": """
from enum import Enum
from types import SimpleNamespace


class RewardType(str, Enum):
    DB = "DB"
    NL_ASSERTION = "NL_ASSERTION"
    COMMUNICATE = "COMMUNICATE"


class Task:
    def __init__(self, fields):
        self.fields, self.id, self.initial_state = fields, fields["id"], None
        self.user_scenario = fields["scenario"]
        wanted = fields["evaluation_criteria"]
        basis = [RewardType(name) for name in wanted["reward_basis"]]
        self.evaluation_criteria = SimpleNamespace(**{**wanted, "reward_basis": basis})

    def model_dump(self, mode):
        return self.fields
""",
    "src/tau2/data_model/message.py": """
from types import SimpleNamespace as AssistantMessage, SimpleNamespace as UserMessage
from types import SimpleNamespace as ToolCall, SimpleNamespace as ToolMessage
""",
    "src/tau2/data_model/simulation.py": """
from enum import Enum
from types import SimpleNamespace as RewardInfo, SimpleNamespace as SimulationRun
import pandas as pd


def frame(table: pd.DataFrame | None = None) -> pd.DataFrame | None:
    return table


class TerminationReason(str, Enum):
    USER_STOP = "user_stop"
""",
    "src/tau2/domains/retail/tools.py": TOOLS,
    "src/tau2/domains/retail/environment.py": """
import json
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from dotenv import load_dotenv
from loguru import logger
from tau2.data_model.message import ToolMessage
from tau2.data_model.tasks import Task
from tau2.domains.retail.tools import ALL

DATA = Path(__file__).parents[4] / "data/tau2/domains/retail"
if not load_dotenv():
    logger.warning("no .env file")


class Kind(str, Enum):
    READ, WRITE, GENERIC = "read", "write", "generic"


class Environment:
    def __init__(self):
        self.books = json.loads((DATA / "db.json").read_text())
        self.tools = SimpleNamespace(tool_type=lambda name: Kind(ALL[name][3]) if name in ALL else Kind.READ)

    def get_policy(self):
        return (DATA / "policy.md").read_text()

    def get_tools(self):
        told = [
            {"name": name, "description": about, "parameters": schema}
            for name, (_, about, schema, _) in ALL.items()
        ]
        return [SimpleNamespace(openai_schema={"function": function}) for function in told]

    def get_response(self, call):
        try:
            content = ALL[call.name][0](self.books, **call.arguments)
        except Exception as error:
            content = f"Error: {error}"
        return ToolMessage(role="tool", content=content)


def get_environment(solo_mode=False):
    return Environment()


def get_tasks(split):
    return [Task(fields) for fields in json.loads((DATA / "tasks.json").read_text())]
""",
    "src/tau2/evaluator/__init__.py": "",
    "src/tau2/evaluator/evaluator.py": """
from enum import Enum
from tau2.data_model.simulation import RewardInfo
from tau2.data_model.tasks import RewardType
from tau2.evaluator.evaluator_nl_assertions import NLAssertionsEvaluator
from tau2.registry import registry


class EvaluationType(str, Enum):
    ALL = "all"


def evaluate_simulation(simulation, task, evaluation_type, solo_mode, domain):
    wanted, mine, gold = task.evaluation_criteria, *(registry.get_env_constructor(domain)() for _ in "ab")
    for message in simulation.messages:
        for call in getattr(message, "tool_calls", None) or []:
            if mine.tools.tool_type(call.name) == "write":  # as the original: what only reads is not repeated
                mine.get_response(call)
    for action in wanted.actions:
        gold.get_response(type(simulation)(name=action["name"], arguments=action["arguments"]))
    said = " ".join(getattr(m, "content", "") or "" for m in simulation.messages if m.role == "assistant")
    parts = {
        RewardType.DB: float(mine.books == gold.books),
        RewardType.COMMUNICATE: float(all(text in said for text in wanted.communicate_info)),
    }
    if RewardType.NL_ASSERTION in wanted.reward_basis:
        parts |= NLAssertionsEvaluator.calculate_reward(task, simulation.messages).reward_breakdown
    reward = 1.0
    for kind in wanted.reward_basis:
        reward *= parts[kind]
    return RewardInfo(reward=reward, reward_breakdown={kind: parts[kind] for kind in wanted.reward_basis})
""",
    "data/tau2/domains/retail/db.json": json.dumps(BOOKS),
    "data/tau2/domains/retail/policy.md": POLICY,
}
TASKS = (
    {
        "instruction": "You are m1. You want Emma. You give your number only when asked.",
        "actions": [{"name": "lend_book", "kwargs": LEND}],
        "outputs": [],
    },
    {
        "instruction": "You are m2 and want Ulysses, and to know what it costs.",
        "actions": [{"name": "get_book", "kwargs": {"book_id": "b2"}}],
        "outputs": ["30"],
    },
    {"instruction": "You want the moon.", "actions": [], "outputs": []},
)
"""Lend a book; tell a price; refuse."""
ASSERTED = "The agent told the customer who has the book."


def tau_bench(folder: Path) -> Path:
    """A checkout in tau-bench's layout; its only domain is retail."""
    return _written(folder, {**_TAU_BENCH, "tau_bench/envs/retail/tasks_test.json": json.dumps(TASKS)})


def tau2(folder: Path) -> Path:
    """A checkout in tau2's layout; its only domain is retail. The second task has an assertion to judge."""
    tasks = [
        {
            "id": str(number),
            "scenario": task["instruction"],
            "evaluation_criteria": {
                "actions": [
                    {"name": action["name"], "arguments": action["kwargs"]} for action in task["actions"]
                ],
                "communicate_info": task["outputs"],
                "nl_assertions": [ASSERTED] if task["outputs"] else None,
                "reward_basis": ["DB", "COMMUNICATE", *(["NL_ASSERTION"] if task["outputs"] else [])],
            },
        }
        for number, task in enumerate(TASKS)
    ]
    return _written(folder, {**_TAU2, "data/tau2/domains/retail/tasks.json": json.dumps(tasks)})


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip(), encoding="utf-8")
    return folder
