"""Planted faults: what each mechanism of the agent is worth, shown with a scripted model.

The script makes one kind of mistake at each task: it leaves a condition out of its plan, trusts a short
entry, picks a tool that is out of order, and so on. Whether it mends the mistake depends on nothing but what
its prompt shows: its own low score, the reflector's finding, a failed call in short-term memory. So a
mechanism that is switched off loses the tasks that need it, and no others. This says nothing of what a real
model does.

    python -m benchmarks.planted_faults --out DIR

With --held-out, its mistakes are of four kinds that the rules of effort were not written for.
"""
