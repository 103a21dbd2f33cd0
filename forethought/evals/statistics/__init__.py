"""How sure a figure is: intervals, paired comparisons, pass^k."""
