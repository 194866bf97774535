"""Samples on one clock, at one rate, with their gaps known, cut into windows."""
