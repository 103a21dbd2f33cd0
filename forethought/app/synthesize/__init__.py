"""synthesize: multi-level reflections for the retrospective model."""
