"""eval: methods on benchmarks, and reports on them."""
