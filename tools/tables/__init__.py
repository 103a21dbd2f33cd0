"""Tables of files and of readings, for the tool `sql`."""
