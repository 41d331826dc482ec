"""Where machines come from: one protocol, and a folder for each adapter; `ssh/` is how machines are reached."""
