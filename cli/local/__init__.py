"""A whole Wavepool on this machine: its processes started, watched over and stopped."""
