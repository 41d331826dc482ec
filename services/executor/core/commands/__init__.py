"""The commands of `wavepool core`."""
