"""Jobs that have a machine: dispatched, followed, tried again, cancelled, settled; and jobs that nobody attends to."""
