"""Our agent, its ablations and the debugger as methods under evaluation."""
