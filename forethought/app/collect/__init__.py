"""collect: runs on a file of tasks, judged and kept."""
