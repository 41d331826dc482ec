"""To and from vmpool's proto messages: leases and demand, machines, and what operators ask."""
