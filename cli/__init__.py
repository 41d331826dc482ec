"""The subcommands of `wavepool` that work on this machine, and `make demo`. The rest is in wavepool_client."""
