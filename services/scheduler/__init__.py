"""The scheduler: accepts jobs, orders the queue, runs jobs on leased machines and stores every event."""
