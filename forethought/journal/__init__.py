"""What a graph's task has done so far, kept before its update is: its tool calls and its model replies."""

from forethought.journal.task import Journal, JournalError, current, journalled

__all__ = ["Journal", "JournalError", "current", "journalled"]
