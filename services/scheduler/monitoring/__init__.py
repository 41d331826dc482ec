"""What waits, runs and has ended, for people, for alerts and for Prometheus."""
