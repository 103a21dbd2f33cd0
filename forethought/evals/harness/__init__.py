"""Runs evaluations: on inspect_ai, with our own model calls, budgets, records and resumption."""
