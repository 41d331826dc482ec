"""Admission of submissions, and jobs that wait: their order, their machines and their demand on the pool."""
