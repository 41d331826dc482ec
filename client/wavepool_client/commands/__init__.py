"""The subcommands of `wavepool` that a gateway answers, a file for each group."""
