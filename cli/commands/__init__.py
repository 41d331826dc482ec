"""The subcommands of `wavepool`, a file for each group."""
