"""Readers, one per format: what it looks like, and how it becomes samples with time stamps."""
