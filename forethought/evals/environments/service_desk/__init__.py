"""A service desk: an agent with a firm's tools, and a customer played by a model (tau-bench, section 3)."""
