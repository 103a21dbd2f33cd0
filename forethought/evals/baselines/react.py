"""ReAct: thought, action, observation until an answer (Yao et al. 2023, ICLR; baseline of MIRROR 4.1,
PreFlect 4.1 and SAMULE 4.2).

START -> begin -> think -> act -> think ... -> close -> END
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.loop import Graph, new_graph
from forethought.evals.types import TrialContext


class React(Baseline):
    """One try, without memory or reflection."""

    name = "react"
    about = "ReAct: thought, action, observation until an answer (Yao et al. 2023)"

    def wire(self, bench: Bench) -> Graph:
        """See Baseline."""
        graph = new_graph(bench)
        graph.add_edge("close", END)
        return graph


class Act(React):
    """ReAct without thoughts (Yao et al. 2023, section 3; rollout of AgentDebug table 7c)."""

    name = "act"
    about = "act-only: action and observation until an answer, no thoughts (Yao et al. 2023)"

    def notes(self, trial: TrialContext) -> dict[str, Any]:
        """See Baseline."""
        return {"act_only": True}
