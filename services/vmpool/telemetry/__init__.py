"""What is reported of machines: events, logs, faults of providers, and costs."""
