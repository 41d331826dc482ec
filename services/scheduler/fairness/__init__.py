"""Fairness between queues: which waiting job is next, and which running one makes room. A folder for each policy."""
