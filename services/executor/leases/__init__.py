"""Access to this machine: tokens, leases and the fence, slots of a GPU."""
