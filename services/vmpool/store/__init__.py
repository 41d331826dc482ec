"""What vmpool keeps in its database, one subject a file."""
