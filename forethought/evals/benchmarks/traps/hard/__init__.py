"""Plans to be thought out: all that binds them is said, nothing misleads, and only the best plan is right."""
