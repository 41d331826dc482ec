"""What a job is: its states and moves, what it asks for, what it costs, how it ends. Pure."""
