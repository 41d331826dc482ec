"""What the scheduler asks of billing, vmpool and executors."""
