"""submit, worker and jobs: a queue of tasks that many machines work off."""
