"""One short file for each figure or table: what is varied, and what the paper found."""
