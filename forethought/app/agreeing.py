"""Whether a person at the terminal agrees to what was told."""

from __future__ import annotations


def agreed(question: str) -> bool:
    """Ask; no answer at all is a no. '[Y/n]' in the question takes the mere Enter for a yes."""
    try:
        said = input(f"{question} ").strip().lower()
    except EOFError:
        return False
    return said in ("y", "yes") or (not said and "[Y/n]" in question)
