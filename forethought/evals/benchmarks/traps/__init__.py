"""Tasks over generated files whose plain reading is wrong, with trivial tasks and follow-ups beside them."""
