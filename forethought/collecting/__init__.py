"""Collecting trajectories to learn from: tasks, several runs each, and what became of them (PreFlect B.1)."""
