"""Fairness between queues: which waiting workload is next, and which running one makes room for it."""
