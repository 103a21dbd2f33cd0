"""debug: the critical error of a failed run, and runs again from there."""
