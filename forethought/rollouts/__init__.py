"""Running a failed trajectory again from the middle, in a thread's checkpoints or in an environment."""
