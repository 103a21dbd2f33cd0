"""One file (or folder) a benchmark: its data, what a sample is, how it is scored."""
