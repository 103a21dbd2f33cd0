"""Adoption: does the gate of `learn` tell useful advice from decoys?

A scripted model makes the plan-level mistakes of `planted_faults` in half of its tasks, and works soundly in
the other half. It follows whatever advice its prompt shows: useful advice mends one kind of mistake, a decoy
sounds right and changes nothing, or makes a sound plan wrong. The gate sees none of these labels. It replays
each advice at the plan checkpoints of past failures and successes, and adopts it or does not.

    python -m benchmarks.adoption

A seeded share of the model's plans comes out the other way, as a real model's do: a useless advice may look
good by chance.
"""
