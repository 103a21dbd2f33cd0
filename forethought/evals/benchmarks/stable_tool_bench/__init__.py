"""StableToolBench: solvable queries over simulated web APIs (Guo et al., 2024)."""

from forethought.evals.benchmarks.stable_tool_bench.benchmark import StableToolBench

BENCHMARK = StableToolBench()
