"""threads and show: what is kept of runs, side by side, and let go of."""
