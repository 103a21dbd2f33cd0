"""A retrospective model: its data, its training, its serving, and the gate before it (SAMULE 3.2.2)."""
