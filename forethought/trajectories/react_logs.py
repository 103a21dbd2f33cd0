"""Reflexion's logs of ReAct agents: plain text, many runs a file, sorted by how they ended.

    BEGIN TRIAL 1
    Trial summary: Correct: 26, Incorrect: 73, Halted: 1
    ------------- BEGIN HALTED AGENTS --------------

    Solve a question answering task ... You have attempted to answer following question before ...
    Question: ...
    Thought 1: ...
    Action 1: Search[...]
    Observation 1: ...
    Correct answer: ...

A run begins at a `Question:` that a step 1 follows: before any other line of a step, another question or the
gold answer. What stands between the gold answer of the run before and the question (the newer logs) or
between the question and step 1 (the older ones) are instructions, and reflections on earlier trials.

A ReAct thought judges the last result and plans the next move in one breath, and no rule can take it apart
safely; it is kept whole as the step's planning, so that memory and reflection are empty. Reflections are what
the run had before it: they are given to its first step. The verdict and the gold answer, which the log writes
into the run, go to the reference. A log repeats a run in every later trial until it changes, later without
its steps: runs that are the same word for word, reflections included, are read once, and a question without
steps only counts. The counts of each trial are held against its summary.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forethought.trajectories.format import Format
from forethought.trajectories.layout import Layout
from forethought.trajectories.messages import Conversation, Turn
from forethought.trajectories.types import Loaded, Outcome

_RUN = Layout("react_log", "", outcome="outcome", gold="gold")
_MARK = re.compile(
    r"^(?:(?P<question>Question):|(?P<part>Thought|Action|Observation) (?P<number>[1-9]\d{0,5}):"
    r"|(?P<gold>Correct answer):)[ \t]?",
    re.MULTILINE,
)
_TRIAL = re.compile(r"^BEGIN TRIAL (\d+)[ \t]*$", re.MULTILINE)
_SUMMARY = re.compile(r"^Trial summary: Correct: (\d+), Incorrect: (\d+), Halted: (\d+)", re.MULTILINE)
_HEADING = re.compile(
    r"^(?:#{10,}|BEGIN TRIAL \d+|Trial summary: .*|-{3,} ?BEGIN (CORRECT|INCORRECT|HALTED) AGENTS ?-{3,})"
    r"[ \t]*$",
    re.MULTILINE,
)
_VERDICT = re.compile(r"(?:^|(?<=\d: )|(?<=\d:))Answer is (CORRECT|INCORRECT)[ \t]*$", re.MULTILINE)
_GOLD = re.compile(r"^.*Correct answer:.*$", re.MULTILINE)
_RETRIED = re.compile(r'"?\s*You have attempted to answer (?:the )?following question before and failed\.')
_LAST_TRIAL = re.compile(r"Below is the last trial you attempted.*?\(END PREVIOUS TRIAL\)", re.DOTALL)
_ACTION = re.compile(r"\s*([A-Za-z_]\w*)\[(.*)\]\s*", re.DOTALL)
_OUTCOMES: dict[str, Outcome] = {"CORRECT": "success", "INCORRECT": "failure", "HALTED": "failure"}
_HOTPOTQA = {"search", "lookup", "finish", ""}
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
    """The runs of a log, in its order, each once, with names of their own.

    Raises ValueError where a trial's runs are not those that its summary counts.
    """
    text = str(value).replace("\r\n", "\n")
    starts = [0, *(found.start() for found in _TRIAL.finditer(text)), len(text)]
    runs: dict[str, Loaded] = {}
    for begin, end in pairwise(starts):
        entries = list(_entries(text[begin:end]))
        notes = _differences(text[begin:end], entries)
        for entry in entries:
            loaded = entry.loaded(notes)
            runs.setdefault(loaded.trajectory.id, loaded)
    with_steps = [loaded for loaded in runs.values() if loaded.trajectory.steps]
    return with_steps or list(runs.values())


@dataclass
class _Entry:
    """A run as the log has it."""

    section: str
    preface: str
    question: str
    steps: list[dict[str, str]]
    verdict: str
    gold: str | None

    @property
    def ending(self) -> str:
        """CORRECT, INCORRECT, HALTED, or '' where the log does not say."""
        return self.verdict or self.section

    def loaded(self, notes: Sequence[str]) -> Loaded:
        instructions, before = _parted(self.preface)
        task, after = _parted(self.question)
        guidance = before or after
        turns = [_turn(parts) for parts in self.steps]
        tools = [call["name"].lower() for turn in turns for call in turn.calls or [{"name": ""}]]
        unfinished = bool(turns) and tools[-1] != "finish" and self.ending != "HALTED"
        known = [
            (parts.get("Thought", ""), parts.get("Action", ""), parts.get("Observation", ""))
            for parts in self.steps
        ]
        spoken = "\x1f".join([task, guidance, *map("\x1e".join, known)])
        entry = {
            "id": f"react-{hashlib.sha256(spoken.encode(errors='replace')).hexdigest()[:16]}",
            "task": task or "(no question)",
            "instructions": instructions,
            "halted": self.ending == "HALTED",
            "notes": [*notes, *["The log ends before the run has finished."] * unfinished],
            "outcome": _OUTCOMES.get(self.ending, "unknown"),
            "gold": (self.gold or "").strip(),
        }
        if turns and set(tools) <= _HOTPOTQA:
            entry |= {"environment": "hotpotqa", "world": _WORLD}
        return _RUN.to_loaded(Conversation(before=[guidance] if guidance else [], turns=turns), entry, "")


def _turn(parts: dict[str, str]) -> Turn:
    """A step by its parts. Its action stays as it is written."""
    call = _ACTION.fullmatch(parts.get("Action", ""))
    return Turn(
        thought=parts.get("Thought", ""),
        calls=[{"name": call[1], "arguments": {"argument": call[2]}}] if call else [],
        modules={"action": parts.get("Action", "")},
        observed=[parts.get("Observation", "")],
    )


def _entries(text: str) -> Iterator[_Entry]:
    """The runs of a trial, those without steps included."""
    blocks = _HEADING.split(text)
    for section, body in zip(["", *blocks[1::2]], blocks[::2], strict=True):
        hidden = [found.span() for found in _LAST_TRIAL.finditer(body)]
        marks = [m for m in _MARK.finditer(body) if not any(a <= m.start() < b for a, b in hidden)]
        close = 0
        for at, following in pairwise([*(at for at in range(len(marks)) if _begins(marks, at)), len(marks)]):
            preface = _GOLD.sub("", _VERDICT.sub("", body[close : marks[at].start()]))
            close = marks[following].start() if following < len(marks) else len(body)
            run, gold, end = marks[at:following], None, close
            if answers := [mark for mark in run if mark["gold"]]:
                end = answers[0].start()
                gold, _, rest = body[answers[0].end() : close].partition("\n")
                run, close = run[: run.index(answers[0])], close - len(rest)
            steps, question = _steps(body, run, end)
            verdicts = _VERDICT.findall(body[marks[at].start() : end])
            verdict = verdicts[-1] if verdicts else ""
            yield _Entry(section or "", preface, question, steps, verdict, gold)


def _begins(marks: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a run begins at this mark: a question that a step 1, or the gold answer, follows."""
    if not marks[at]["question"] or at + 1 == len(marks):
        return False
    after = marks[at + 1]
    return bool(after["gold"]) or (after["number"] == "1" and after["part"] != "Observation")


def _steps(text: str, marks: Sequence[re.Match[str]], end: int) -> tuple[list[dict[str, str]], str]:
    """The steps of one run, each by its parts, and its question.

    A line that only looks like a mark, as one of a page that was read, belongs to the part it stands in.
    """
    steps: list[dict[str, str]] = []
    places: list[tuple[re.Match[str], dict[str, str], str]] = [(marks[0], {}, "question")]
    for mark in marks[1:]:
        name, number = mark["part"], mark["number"]
        if name in ("Thought", "Action") and number == str(len(steps) + 1):
            steps.append({})
        if steps and number == str(len(steps)) and name not in steps[-1]:
            steps[-1][name] = ""
            places.append((mark, steps[-1], name))
    for (mark, part, name), stop in zip(places, [*(m.start() for m, *_ in places[1:]), end], strict=True):
        part[name] = _VERDICT.sub("", text[mark.end() : stop]).strip()
    return steps, places[0][1]["question"]


def _parted(text: str) -> tuple[str, str]:
    """What stands before the reflections on earlier attempts, and those."""
    found = _RETRIED.search(text)
    if found is None:
        return text.strip(), ""
    rest = text[found.start() :].lstrip('"').strip()
    _, marker, reflections = rest.partition("Reflections:")
    told = reflections.strip() if marker and "END PREVIOUS TRIAL" not in rest else rest
    return text[: found.start()].strip(), f"Reflections on earlier attempts at this task:\n{told}"


def _differences(text: str, entries: Sequence[_Entry]) -> tuple[str, ...]:
    """A note where a trial lists more halted runs than its summary counts, as one public log does.

    Raises ValueError for every other difference: then runs were lost, or taken for something else.
    """
    summary, trial = _SUMMARY.search(text), _TRIAL.search(text)
    if summary is None:
        return ()
    # The older logs list a run that finished with its last step among the halted ones too.
    found = Counter({(entry.question, entry.ending): entry.ending for entry in entries}.values())
    told = dict(zip(("CORRECT", "INCORRECT", "HALTED"), map(int, summary.groups()), strict=True))
    differ = [
        f"{found[kind]} {kind.lower()}, not {count}" for kind, count in told.items() if found[kind] != count
    ]
    if not differ:
        return ()
    line = f"trial {trial[1] if trial else '?'}: read {'; '.join(differ)} as the log's summary says"
    if (
        all(found[kind] == told[kind] for kind in ("CORRECT", "INCORRECT"))
        and found["HALTED"] > told["HALTED"]
    ):
        return (f"The log contradicts itself: {line}.",)
    raise ValueError(f"{line}; the log is incomplete or in an unknown form: give the whole log")


REACT_LOG = Format("ReAct log", "lines with Question: and Thought 1:", claims, read)
