"""The methods under evaluation, by name: our agent, our agent without each of its mechanisms, and what it is
compared with."""

from __future__ import annotations

from forethought.evals.methods.registry import method, method_names

__all__ = ["method", "method_names"]
