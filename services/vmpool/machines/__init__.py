"""Machines, their leases, offers and costs: values and their rules, with no I/O."""
