"""ALFWorld's text games, each in a process of its own (extra `alfworld`)."""
