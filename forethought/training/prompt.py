"""What a retrospective model is shown: the same in a training row and in a run (SAMULE 3.2.2).

The input is the paper's: an instruction, the task, background, and the trajectory. The trajectory stands last
and alone in its tags, so that a text that is too long for the model can be cut in the trajectory's middle,
visibly, with its beginning and its end kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forethought.prompts.render import render
from forethought.text import cut

_OPEN, _CLOSE = "\n<trajectory>\n", "\n</trajectory>"
LEAST = 400
"""Minimum characters of a trajectory for a useful reflection."""


def reflection_prompt(
    *, task: str, trajectory: str, background: str = "", guidance: Sequence[str] = ()
) -> tuple[str, str]:
    """The (system, user) texts that ask for a reflection on one failed try."""
    return render(
        "round_reflection",
        task=task,
        guidance=list(guidance),
        background=background.strip(),
        trajectory=trajectory,
    )


def trajectory_text(
    *, plan: str = "", steps: str = "", answer: str = "", evaluation: str = "", score: int | None = None
) -> str:
    """A failed try as text: plan, steps, answer and what was thought of it, as far as there are."""
    judged = "Evaluation of the answer" + (f" ({score} of 10)" if score is not None else "")
    parts = {"Plan": plan, "Steps": steps, "Draft answer": answer, judged: evaluation}
    return "\n\n".join(f"{name}:\n{text.strip()}" for name, text in parts.items() if text.strip())


def shorten(user: str, fits: Callable[[str], bool]) -> str | None:
    """`user`, a text of `reflection_prompt`, with as much of its trajectory as `fits` allows.

    None where it does not fit even with the least of its trajectory.
    """
    if fits(user):
        return user
    opened, closed = user.rfind(_OPEN), user.rfind(_CLOSE)
    if not 0 <= opened < closed:
        return None
    before, after = user[: opened + len(_OPEN)], user[closed:]
    inner = user[len(before) : closed]
    best, low, high = None, LEAST, len(inner) - 1
    while low <= high:
        keep = (low + high) // 2
        tried = f"{before}{cut(inner, keep, tail=0.5)}{after}"
        if fits(tried):
            best, low = tried, keep + 1
        else:
            high = keep - 1
    return best
