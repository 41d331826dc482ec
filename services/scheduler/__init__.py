"""The scheduler: takes jobs, decides what runs next and where, runs them on leased machines, keeps every event."""
