"""Reports on machines: events, logs, faults of providers, and costs."""
