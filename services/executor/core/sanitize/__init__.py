"""Wrong accesses to memory and data races."""
