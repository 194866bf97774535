"""Measurements. A ratio against a peer in the same run may fail; an absolute time never does."""
