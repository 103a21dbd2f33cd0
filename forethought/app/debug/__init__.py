"""debug: the critical error of a failed trajectory, and runs again from there."""
