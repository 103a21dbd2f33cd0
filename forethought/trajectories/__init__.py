"""Trajectories of any agent in one validated form, and what is measured on them."""
