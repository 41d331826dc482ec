"""What a sandbox may use, counted and held back: memory, processors, processes, files."""
