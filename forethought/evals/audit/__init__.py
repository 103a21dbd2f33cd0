"""Whether the rules of effort=auto are right: skips of an evaluation, run again with the mechanism on."""
