"""How HTTP is spoken here: connections, bodies, errors, event streams."""
