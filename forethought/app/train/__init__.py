"""train: the retrospective model."""
