"""Where the python tool's programs run: one protocol, two backends."""
