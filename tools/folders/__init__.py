"""Folders given to a run: which files they hold, an index of their text, and the search over it."""
