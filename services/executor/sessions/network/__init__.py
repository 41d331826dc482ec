"""The network of a session: what it reaches, and the programs that make it."""
