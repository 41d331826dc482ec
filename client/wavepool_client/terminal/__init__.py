"""Output on a terminal: results on stdout, everything else on stderr."""
