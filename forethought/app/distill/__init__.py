"""distill: planning errors from trajectories of mixed outcome."""
