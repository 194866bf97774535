"""Heartbeat windows in, identity vectors out."""
