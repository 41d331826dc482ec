"""The problem catalogue: the format, its loader, and one folder for each problem."""
