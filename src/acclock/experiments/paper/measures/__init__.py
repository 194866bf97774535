"""How a unit of an experiment is measured: one file for each way, each with ``measure``."""
