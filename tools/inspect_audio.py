"""The tool `inspect_audio`: what is said in a recording, or an answer from it (PreFlect A.2's audio
inspector).
"""

from __future__ import annotations

import asyncio

from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.given_files import answer_about, find_file
from forethought.tools.media.sound import Segment, Transcript
from forethought.tools.media.transcription import LONGEST_S, load_transcript


async def inspect_audio(env: ToolEnv, path: str, question: str | None = None) -> Observation:
    """Listen to one of the given recordings: a transcript with times, or an answer from what is said.

    Takes mp3, m4a, wav, ogg and flac. Speech only: music and noises are not described, and speakers are not
    told apart. Names and figures may be misheard. Long recordings take minutes; a second call for the same
    file is quick.

    Args:
        path: Name of a given file, such as call.mp3.
        question: What to find out from the recording, or null for the transcript.
    """
    store, content_hash, name = await asyncio.to_thread(find_file, path, env)
    question = (question or "").strip()
    transcript = await load_transcript(store, content_hash, name, env.settings)
    while transcript.unbooked and env.book is not None:
        env.book(transcript.unbooked.pop())
    segments = [segment for segment in transcript.segments if segment.text.strip()]
    if not segments:
        raise ToolError(
            f"no speech was recognised in {name} ({clock(transcript.seconds)} of sound)",
            cause="empty",
            hint="Ask the user what is in it.",
        )
    heading = _first_line(name, transcript)
    if question:
        return await _answer(env, name, heading, segments, question)
    shown, rest = _fitting(segments, env.sizes.passages)
    lines = [heading, *map(line, shown)]
    if rest:
        lines.append(
            f"[not shown: {clock(rest[0].start)} to {clock(rest[-1].end)}; "
            "ask a question about that time, such as what is said word by word]"
        )
    return Observation("\n".join(lines), origin=f"file:{name}", partial=bool(rest))


def line(segment: Segment) -> str:
    """'[00:12-00:17] text'."""
    return f"[{clock(segment.start)}-{clock(segment.end)}] {' '.join(segment.text.split())}"


def clock(seconds: float) -> str:
    """Seconds as 00:12, 59:59 or 1:00:12."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes:02}:{rest:02}"


def _first_line(name: str, transcript: Transcript) -> str:
    language = f", language {transcript.language}" if transcript.language else ""
    return (
        f"{name}, {clock(transcript.seconds)} of sound{language}, transcribed by {transcript.by}; "
        "words may be misheard."
    )


def _fitting(segments: list[Segment], characters: int) -> tuple[list[Segment], list[Segment]]:
    """The first segments whose lines fit into `characters` (at least one), and the rest."""
    used = 0
    for at, segment in enumerate(segments):
        used += len(line(segment)) + 1
        if used > characters and at:
            return segments[:at], segments[at:]
    return segments, []


async def _answer(
    env: ToolEnv, name: str, heading: str, segments: list[Segment], question: str
) -> Observation:
    assert env.inspect is not None, "a run has a model"
    considered, rest = _fitting(segments, env.sizes.inspected)
    answer = await env.inspect(question, "\n".join(map(line, considered)), name)
    if rest:
        heading += f"\nConsidered: only what is said before {clock(rest[0].start)}."
    return answer_about(name, heading, answer)


# Besides the hearing there is the question to the model, whose own time limit is the operator's. A call that
# gave up may be made again: the hearing goes on in its thread, and what it made is kept.
INSPECT_AUDIO = make_tool(
    inspect_audio, timeout_s=LONGEST_S + 900, retryable=True, media=("audio/", "video/")
)
