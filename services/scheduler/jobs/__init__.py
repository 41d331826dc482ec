"""What may become a job, and what a job is: its states and moves, what it asks for, its cost, its end. Pure."""
