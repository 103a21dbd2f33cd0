"""Prospective reflection for agents of other frameworks (PreFlect 4.4)."""
