"""TravelPlanner: plans for trips under commonsense and hard constraints (Xie et al., 2024)."""
