"""Reports on the MI300X compiler's output for a submission: registers, memory, occupancy and hints, without a GPU."""
