"""SSH to reservations: people's keys, what ssh is called with, and the proxy that carries its bytes."""
