"""Which version of the stages that all experiments share gave a figure."""

VERSIONS = {"people": 1, "encoder": 1, "protocol": 1}
"""Raised, each by whoever changes what its stage gives: older outcomes are then measured again."""
