"""Jobs that have a machine: dispatched, followed, cancelled, rescued, settled."""
