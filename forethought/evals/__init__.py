"""Evaluations: benchmarks, methods, statistics and reports (extra `evals`)."""
