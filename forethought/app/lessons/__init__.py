"""lessons: what is kept of failed tasks."""
