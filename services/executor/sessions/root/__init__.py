"""The sandbox of a session: its root, its share of the machine, and the sandboxes in which images are built."""
