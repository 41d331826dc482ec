"""Judge processes: started ahead of time, each used once."""
