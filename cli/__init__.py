"""The subcommands of `wavepool` that work on this machine, and `make demo`. The others are in wavepool_client."""
