"""Resources of a sandbox, counted and limited: memory, processors, processes, files."""
