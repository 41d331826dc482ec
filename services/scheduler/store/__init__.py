"""Jobs and their events as rows."""
