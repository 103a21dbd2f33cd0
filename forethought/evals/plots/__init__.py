"""Plots of an evaluation, as SVG and PNG."""
