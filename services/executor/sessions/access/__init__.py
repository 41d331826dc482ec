"""The way in: what sshd reads, keys and logins, connections, and orders to the first program inside."""
