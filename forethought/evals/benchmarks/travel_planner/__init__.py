"""TravelPlanner: plans for trips under commonsense and hard constraints (Xie et al., 2024)."""

from forethought.evals.benchmarks.travel_planner.benchmark import TravelPlanner

BENCHMARK = TravelPlanner()
