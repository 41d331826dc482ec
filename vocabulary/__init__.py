"""Facts that several programs of Wavepool need, each in one place. Pure: imports only the standard library."""
