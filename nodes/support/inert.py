"""Settings without effect: a run that changes one is warned."""

from __future__ import annotations

from collections.abc import Mapping

from forethought.state.context import Context, Mechanism

_ACTS_IN: Mapping[str, tuple[Mechanism, ...]] = {
    "plan_threshold": ("plan_intra",),
    "tool_threshold": ("tool_intra",),
    "tool_floor": ("tool_intra",),
    "answer_threshold": ("answer_intra",),
    "max_rounds": ("answer_intra",),
    "long_term_memory": ("answer_intra",),
    "round_reflection": ("answer_intra",),
    "max_revisions": ("plan_intra", "tool_intra", "answer_intra"),
    "max_reflections": ("prospective_reflection",),
    "planning_errors": ("prospective_reflection",),
}
_NOT_IN_PAPERS = ("first_look", "signs", "answer_checks")


def without_effect(context: Context) -> list[str]:
    """A line for each changed setting that does nothing with this effort and these switches."""
    lines = []
    for name, field in Context.model_fields.items():
        mechanisms = _ACTS_IN.get(name, ())
        if getattr(context, name) == field.default:
            continue
        if mechanisms and all(context.wants(mechanism) is False for mechanism in mechanisms):
            lines.append(f"{name} has no effect without {' or '.join(mechanisms)}; set effort=auto")
        elif name in _NOT_IN_PAPERS and context.effort == "paper":
            lines.append(f"{name} has no effect with effort=paper; set effort=auto")
    return lines
