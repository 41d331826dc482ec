"""Judge processes: started ahead, each used once."""
