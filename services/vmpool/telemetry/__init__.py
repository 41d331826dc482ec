"""What is told of machines: events, logs, faults of providers, and costs."""
