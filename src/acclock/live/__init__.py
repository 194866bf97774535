"""Verdicts over time in, locked or unlocked out: continuous authentication."""
