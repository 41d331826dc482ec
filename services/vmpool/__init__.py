"""Rents machines, keeps them warm, gives them out under leases, and hands them back."""
