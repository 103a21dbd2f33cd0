"""What the add-on is worth to agents of other frameworks, shown with a scripted model.

The script plans and acts with one kind of fault a task. It mends the fault only where its prompt tells it to:
in a revised plan, in a new plan that knows why the old one failed, or in what a check found.
It shows which faults the add-on can catch where, and what that costs, not how often a real model needs it.

    python -m benchmarks.add_on
"""
