"""Machines: rented, kept warm, given out under leases, handed back."""
