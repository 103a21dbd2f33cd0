"""A reader that overlooks parts of the material, at a known rate, the same for every method.

Each line of material, and each sentence of a longer line, is left out of the prompt with a given probability.
The draw depends on the seed and the prompt: the same prompt always loses the same lines, and another prompt
that shows the same file loses others, so that a second look can help.

Material is the text of files and tools: tool messages, the tags of WHOLE, and the observations in the tags of
RECORDS. The task, the instructions, plans, answers and the model's own thoughts and calls stay.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

WHOLE = ("file", "document", "result", "came", "observation", "signs")
RECORDS = ("step", "steps", "steps_so_far", "trajectory", "try")
_FENCE = re.compile(
    rf"^<(?P<tag>{'|'.join((*WHOLE, *RECORDS))})(?P<attributes> [^>\n]*)?>\n(?P<text>.*?)\n</(?P=tag)>$",
    re.DOTALL | re.MULTILINE,
)
"""A fence as `forethought.text.fence` writes it."""
_OBSERVATION = re.compile(
    r"^(?P<head>[^\n]*?\b(?:observation|observed)(?: \([^)\n]*\))?: "
    r"|step \d+ [^\n]*?\): )"
    r"(?P<text>.*?)(?=\n(?:Step \d+$|step \d+ |subtask: |thought: |move|action: )|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""The result of a call in the records of our agent and of the baselines."""
_SENTENCE_END = re.compile(r"(?<=[.!?;]) +")


class Reader:
    """Overlooks each line or sentence of material with `probability`."""

    def __init__(self, probability: float, seed: int = 0) -> None:
        """`probability`: from 0 to 1. `seed`: the number of the reader; another one overlooks other lines."""
        self.probability, self.seed = probability, seed

    def sees(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages of a request as the reader sees them."""
        draw = random.Random(f"{self.seed}:{[message.get('content') for message in messages]}")
        return [self._message(message, draw) for message in messages]

    def _message(self, message: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
        content = message.get("content")
        if not isinstance(content, str):
            return dict(message)
        if message["role"] == "tool":
            return {**message, "content": self._read(content, draw)}
        seen = _FENCE.sub(lambda fence: self._fence(fence, draw), content)
        return {**message, "content": seen}

    def _fence(self, fence: re.Match[str], draw: random.Random) -> str:
        tag, text = fence["tag"], fence["text"]
        if tag in RECORDS:
            seen = _OBSERVATION.sub(lambda found: found["head"] + self._read(found["text"], draw), text)
        else:
            seen = self._read(text, draw)
        return f"<{tag}{fence['attributes'] or ''}>\n{seen}\n</{tag}>"

    def _read(self, text: str, draw: random.Random) -> str:
        lines = (self._line(line, draw) for line in text.split("\n"))
        return "\n".join(line for line in lines if line is not None)

    def _line(self, line: str, draw: random.Random) -> str | None:
        """The sentences of a line that are seen; None if it had some and none is seen."""
        sentences = [line] if line.startswith("|") else _SENTENCE_END.split(line)
        seen = [one for one in sentences if not one.strip() or draw.random() >= self.probability]
        return " ".join(seen) if seen else None
