"""The paper's experiments again: on simulated people and on real hearts, by one protocol."""
