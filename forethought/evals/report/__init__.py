"""What an evaluation came to: tables, comparisons, and a page to look at."""
