"""One question to many files: the tool `read_each`."""
