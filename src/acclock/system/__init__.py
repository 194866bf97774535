"""The machine: files written whole or not at all, settings, processes, clocks and the cluster."""
