"""Reflexion's logs of ReAct agents: plain text, many runs a file, sorted by how they ended.

    ------------- BEGIN HALTED AGENTS --------------
    Question: ...
    Thought 1: ...
    Action 1: Search[...]
    Observation 1: ...
    Correct answer: ...

A ReAct thought judges the last result and plans the next move in one breath, and no rule can take it apart
safely; it is kept whole as the step's planning, so that memory and reflection are empty. Reflections on
earlier trials, which the log repeats above the first thought, are what the run had before it: they are given
to its first step. The verdict and the gold answer, which the log writes into the run, go to the reference.
A log repeats a run in every later trial until it changes: runs that are the same word for word, reflections
included, are read once, and a question that is repeated without its steps not at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from forethought.trajectories.types import Loaded, Outcome, Reference, Trajectory, TrajectoryStep

SOURCE = "react_log"
_QUESTION = re.compile(r"Question:[ \t]*(.*)")
_STEP = re.compile(r"(Thought|Action|Observation) ([1-9]\d{0,5}):[ \t]?(.*)")
_SECTION = re.compile(r"-{3,} ?BEGIN (CORRECT|INCORRECT|HALTED) AGENTS ?-{3,}\s*")
_FRAME = re.compile(r"#{10,}\s*|BEGIN TRIAL \d+\s*|Trial summary: .*")
_LABEL = r"(?:(?:Thought|Action|Observation) \d+:\s*)*"
_VERDICT = re.compile(_LABEL + r"Answer is (CORRECT|INCORRECT)\s*")
_GOLD = re.compile(_LABEL + r"Correct answer:[ \t]*(.*)")
_RETRIED = re.compile(
    r'"?\s*You have attempted to answer (?:the )?following question before and failed\..*', re.DOTALL
)
_ACTION = re.compile(r"\s*([A-Za-z_]\w*)\[(.*)\]\s*", re.DOTALL)
_OUTCOMES: dict[str, Outcome] = {"CORRECT": "success", "INCORRECT": "failure", "HALTED": "failure"}
_HOTPOTQA = {"search", "lookup", "finish"}
_WORLD = (
    "Search[name] shows the beginning of the encyclopedia page of that name, or the names of similar pages. "
    "Lookup[words] shows the next sentence of the page found last that holds the words. Finish[answer] ends "
    "the run; its answer is compared with the expected one word for word, but for case, articles and "
    "punctuation."
)


def claims(value: object) -> bool:
    """Whether `value` looks like the text of such a log."""
    start = value[:200_000] if isinstance(value, str) else ""
    return all(re.search(rf"^{line}", start, re.MULTILINE) for line in ("Question:", "(?:Thought|Action) 1:"))


def read(value: object, name: str) -> list[Loaded]:
    """The runs of a log, in its order, each once, with names of their own."""
    runs: dict[str, Loaded] = {}
    for run in _runs(str(value).replace("\r\n", "\n").split("\n")):
        loaded = run.loaded()
        runs.setdefault(loaded.trajectory.id, loaded)
    with_steps = [loaded for loaded in runs.values() if loaded.trajectory.steps]
    return with_steps or list(runs.values())


@dataclass
class _Run:
    """A run while it is read."""

    section: str
    question: list[str]
    steps: list[dict[str, list[str]]] = field(default_factory=list)
    verdict: str = ""
    gold: list[str] = field(default_factory=list)

    def loaded(self) -> Loaded:
        task, guidance = self._task()
        steps = tuple(_step(number, parts, guidance) for number, parts in enumerate(self.steps, 1))
        finished = bool(steps) and steps[-1].tool.lower() == "finish"
        halted = self.section == "HALTED"
        notes = () if finished or halted or not steps else ("The log ends before the run has finished.",)
        spoken = "\x1f".join(
            [task, guidance, *("\x1e".join((s.planning, s.action, s.observation)) for s in steps)]
        )
        hotpotqa = bool(steps) and {s.tool.lower() for s in steps} <= _HOTPOTQA | {""}
        trajectory = Trajectory(
            id=f"react-{hashlib.sha256(spoken.encode(errors='replace')).hexdigest()[:16]}",
            task=task,
            environment="hotpotqa" if hotpotqa else "",
            world=_WORLD if hotpotqa else "",
            source=SOURCE,
            steps=steps,
            answer=str(steps[-1].arguments.get("argument", "")) if finished else "",
            halted=halted,
            notes=notes,
        )
        outcome = _OUTCOMES.get(self.verdict or self.section, "unknown")
        return Loaded(trajectory=trajectory, reference=Reference(outcome=outcome, gold=tuple(self.gold)))

    def _task(self) -> tuple[str, str]:
        """The question, and the reflections that the run was given."""
        whole = "\n".join(self.question).strip()
        if found := _RETRIED.search(whole):
            question, rest = whole[: found.start()].strip(), found[0]
            _, marker, reflections = rest.partition("Reflections:")
            text = reflections.strip() if marker else rest.strip()
            return (
                question or "(no question)",
                f"Reflections on earlier attempts at this task:\n{text}" if text else "",
            )
        return whole or "(no question)", ""


def _runs(lines: Iterable[str]) -> Iterator[_Run]:
    """The runs, cut at every question that stands after a blank line or a heading."""
    section, run, opening = "", None, True
    place: list[str] = []
    for line in lines:
        if found := _SECTION.fullmatch(line):
            section, opening, place = found[1], True, []
        elif _FRAME.fullmatch(line):
            section, opening, place = "", True, []
        elif opening and (found := _QUESTION.fullmatch(line)):
            if run:
                yield run
            run = _Run(section, [found[1]])
            place, opening = run.question, False
        elif run is not None:
            place, opening = _take(run, line, place), not line.strip()
    if run:
        yield run


def _take(run: _Run, line: str, place: list[str]) -> list[str]:
    """Put a line of a run where it belongs; returns where the lines after it go."""
    if found := _GOLD.fullmatch(line):
        run.gold += [found[1].strip()] if found[1].strip() else []
        return []  # what follows is between two runs
    if found := _STEP.fullmatch(line):
        name, number, text = found[1], int(found[2]), found[3]
        if number == len(run.steps) + 1 and name != "Observation":
            run.steps.append({})
        if number == len(run.steps) and name not in run.steps[-1]:
            run.steps[-1][name] = place = []
            line = text
    if found := _VERDICT.fullmatch(line):
        run.verdict = found[1]
    else:
        place.append(line)
    return place


def _step(number: int, parts: dict[str, list[str]], given: str) -> TrajectoryStep:
    texts = {name: "\n".join(lines).strip() for name, lines in parts.items()}
    action = texts.get("Action", "")
    call = _ACTION.fullmatch(action)
    return TrajectoryStep(
        number=number,
        given=given if number == 1 else "",
        planning=texts.get("Thought", ""),
        action=action,
        observation=texts.get("Observation", ""),
        tool=call[1] if call else "",
        arguments={"argument": call[2]} if call else {},
    )
