"""What a machine, its leases, its offers and its cost are: values and their rules, with no I/O."""
