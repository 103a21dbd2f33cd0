"""Runs on real local servers with a tiny model: whether every run ends in time, with an honest status."""
