"""The subcommands of `wavepool` that work on this machine, a file for each group."""
