"""Worlds that a sample is acted out in."""
