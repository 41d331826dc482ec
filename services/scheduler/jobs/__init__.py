"""Jobs and their admission: states and moves, specification, wait, retries and end. All code here is pure."""
