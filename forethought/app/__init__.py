"""The command line: reads what is asked, runs the graph on a thread, and shows what happens."""
