"""Acceleration in, heartbeat out."""
