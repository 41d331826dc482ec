"""A simulated device: real answers, and times from a noise model."""
