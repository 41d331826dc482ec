"""Where machines come from: one protocol, one adapter a file."""
