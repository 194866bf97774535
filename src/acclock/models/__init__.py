"""Model files: found, verified and read. What is in them is for others to know."""
