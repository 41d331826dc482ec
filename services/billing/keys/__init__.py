"""Where the public SSH keys of people come from."""
