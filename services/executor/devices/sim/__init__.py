"""A simulated GPU: real answers, and times from a noise model."""
