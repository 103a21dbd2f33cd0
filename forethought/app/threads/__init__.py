"""threads and show: what is kept of runs."""
