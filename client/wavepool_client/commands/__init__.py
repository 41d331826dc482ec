"""The subcommands of `wavepool` that call a gateway, a file for each group."""
