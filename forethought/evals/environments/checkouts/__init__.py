"""Public repositories that are run where the user has them: each in its own process, never copied here."""
