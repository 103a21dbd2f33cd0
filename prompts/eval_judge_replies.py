"""The types of the replies of judges in evaluations. Field names are a contract, as in `replies`."""

from __future__ import annotations

from typing import Literal

from forethought.prompts.replies import Reply, Text


class FactGrade(Reply):
    """SimpleQA: what an answer to a question of fact is worth."""

    reasoning: Text = ""
    grade: Literal["correct", "incorrect", "not_attempted"]
