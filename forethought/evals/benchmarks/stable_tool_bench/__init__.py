"""StableToolBench: solvable queries over simulated web APIs (Guo et al., 2024)."""
