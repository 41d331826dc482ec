"""Submissions taken in, and jobs that wait: their order, their machines, and what is asked of the pool for them."""
