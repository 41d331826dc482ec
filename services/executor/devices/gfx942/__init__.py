"""What the MI300X's compiler makes of a submission: registers, memory, occupancy and hints, with no GPU."""
