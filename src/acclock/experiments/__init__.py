"""How well people are told apart: on real hearts, on simulated ones, and by which protocol."""
