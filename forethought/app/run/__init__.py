"""run, resume and fork: a graph driven on a thread, with a person who may be asked."""
