"""Conversions to and from vmpool's proto messages: leases and demand, machines, and operators' requests."""
