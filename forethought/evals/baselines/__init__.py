"""Agents to compare with: each a small graph on the same tools, model and budget."""
