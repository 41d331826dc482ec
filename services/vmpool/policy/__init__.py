"""What the pool decides, as pure functions: how many machines, which offers, and how long they stay."""
