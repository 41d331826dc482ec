"""Projections: what numbers of tasks a day would cost, and what the days that were lead to. No I/O."""
