"""Locked or unlocked in, something in the world that locks out."""
