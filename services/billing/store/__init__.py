"""What billing keeps in its database, one subject a file."""
