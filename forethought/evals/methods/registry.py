"""Methods by name."""

from __future__ import annotations

from collections.abc import Mapping

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.best_of_n import BestOfN
from forethought.evals.baselines.expel import Expel
from forethought.evals.baselines.inter_task import InterTask
from forethought.evals.baselines.plan_and_act import PlanAndAct
from forethought.evals.baselines.react import React
from forethought.evals.baselines.reflexion import Reflexion
from forethought.evals.baselines.self_refine import SelfRefine
from forethought.evals.methods.ablations import ABLATIONS
from forethought.evals.methods.debugger import DEBUGGERS
from forethought.evals.methods.ours import Ours
from forethought.evals.types import Method

_ABLATIONS = [Ours(name, f"ours, {off.about}", off.switches) for name, off in ABLATIONS.items()]
_BASELINES: list[Baseline] = [
    React(), PlanAndAct(), Reflexion(), SelfRefine(), BestOfN(), Expel(), InterTask(),
]  # fmt: skip
_ALL: list[Method] = [Ours(), *_ABLATIONS, *_BASELINES, *DEBUGGERS]
METHODS: Mapping[str, Method] = {made.name: made for made in _ALL}
"""All of them, ours first. They hold nothing of any run."""
