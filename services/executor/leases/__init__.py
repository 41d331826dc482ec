"""Who may run what here: tokens, leases and the fence, slots of a GPU."""
