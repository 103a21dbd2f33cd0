"""Methods by name."""

from __future__ import annotations

from collections.abc import Mapping

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.best_of_n import BestOfBudget, BestOfN
from forethought.evals.baselines.error_reduction import ErrorReduction
from forethought.evals.baselines.expel import Expel
from forethought.evals.baselines.inter_task import InterTask
from forethought.evals.baselines.plan_and_act import PlanAndAct
from forethought.evals.baselines.react import Act, React
from forethought.evals.baselines.reflexion import Reflexion
from forethought.evals.baselines.retrieve import Retrieve
from forethought.evals.baselines.samule import Samule
from forethought.evals.baselines.self_refine import RefineToBudget, SelfRefine
from forethought.evals.methods.ablations import ABLATIONS, REFERENCE
from forethought.evals.methods.debugger import DEBUGGERS
from forethought.evals.methods.deep_agents import DeepAgents
from forethought.evals.methods.ours import Ours
from forethought.evals.methods.reruns import RERUNS
from forethought.evals.types import Method

_PAPER = {"effort": "paper"}
_OURS = [
    Ours(),
    Ours(REFERENCE, "our agent with every mechanism as in its paper (effort=paper)", _PAPER),
    Ours("ours-low", "our agent without reflector and self-evaluation (effort=low)", {"effort": "low"}),
]
_ABLATIONS = [
    Ours(name, f"{off.base}, {off.about}", {**(_PAPER if off.base == REFERENCE else {}), **off.switches})
    for name, off in ABLATIONS.items()
]
_BASELINES: list[Baseline] = [
    React(), Act(), PlanAndAct(), Reflexion(), SelfRefine(), RefineToBudget(), BestOfN(), BestOfBudget(),
    Expel(), InterTask(), Samule(), ErrorReduction(), Retrieve(),
]  # fmt: skip
_ALL: list[Method] = [*_OURS, *_ABLATIONS, *_BASELINES, DeepAgents(), *RERUNS, *DEBUGGERS]
METHODS: Mapping[str, Method] = {made.name: made for made in _ALL}
"""All methods, ours first. They keep no state of a run."""
