"""HTTP of the gateway: connections, bodies, errors, event streams."""
